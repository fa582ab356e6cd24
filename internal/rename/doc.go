// Command rename gives the tree another module path.
//
//	go run ./internal/rename example.org/you/h2flow
//
// The module path in go.mod stands on a reserved host, so that nobody can mistake it for a place to download from.
// Whoever publishes the tree runs this once, from its root. It rewrites the path, and the paths below it, wherever
// they occur in text (go.mod files, go.work, imports, comments, documents, scripts), sorts the imports that moved, and
// drops the replace lines of go.mod files by which the nested modules find the root; go.work still ties them.
//
// Invariants: a longer name that only begins like the module path is left alone; files that are not text are not
// touched; the version control directory is not entered. Running it with the path that the tree already has changes
// nothing but the replace lines.
//
// It does not publish, tag or commit, and it does not choose the version that the nested modules require.
package main
