"""The drivers of the node's own description: its document, its viewer, its answers."""
