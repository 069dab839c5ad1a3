"""What a case talks to: the node over HTTP, and the settlement chain over JSON-RPC."""
