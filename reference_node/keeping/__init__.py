"""What outlives a process: the folder of `--state`, and the accounts that a node begins with."""
