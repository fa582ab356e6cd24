package main

import (
	"os"

	"example.com/h2flow/cmd/h2flow/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
