"""The HTTP interface, one module for each section of the specification's "Endpoints"."""
