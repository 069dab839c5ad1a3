"""Who may do what: keys, content identifiers, signatures and envelopes, and the decisions about runs."""
