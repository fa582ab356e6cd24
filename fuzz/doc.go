// Package fuzz holds the fuzz targets of h2flow, each of which checks a property and not only that nothing crashes.
//
// The package exports nothing: the targets are in its tests, one file for each part of the engine, and README.md says
// what each one checks and how to run it. Their seeds run with every go test, and so do the inputs in testdata/fuzz,
// which are what fuzzing has found so far, as small as they get.
//
// When the environment variable H2FLOW_VECTORS names a folder with third-party corpora (go-fuzz-http2, nghttp2-fuzz,
// h2o-http2-fuzz, server-recordings), their files are seeds too.
package fuzz
