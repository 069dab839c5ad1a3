"""Forms of data that every package may use: JSON, YAML with line numbers, keys in their spellings, typed data."""
