"""Tools of the self-test: they alter nodes, serve them, and run the suite against them."""
