"""The driver `steps`: a case is a list of steps."""
