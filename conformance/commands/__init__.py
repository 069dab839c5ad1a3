"""The subcommands of ``service-conformance``, one module each."""
