vcl 4.1;
backend default {
	.host = "{{.BackendHost}}";
	.port = "{{.BackendPort}}";
}
sub vcl_recv {
	if (req.url ~ "^/b/") {
		return (pass);
	}
}
