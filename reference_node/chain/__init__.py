"""The settlement chain of the service: an EVM chain in memory, an external one over JSON-RPC, one interface."""
