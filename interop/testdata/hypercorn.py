h2_max_header_list_size = 131072
