"""The drivers about the node's OpenAPI description: the document, its viewer, and answers compared with it."""
