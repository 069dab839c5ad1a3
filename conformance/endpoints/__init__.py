"""The endpoints that a case uses: the node over HTTP, and the settlement chain over JSON-RPC."""
