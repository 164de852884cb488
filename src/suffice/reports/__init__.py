"""One page about a model and labelled rows: a self-contained HTML file, alive without a server."""
