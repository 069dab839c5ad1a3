"""The driver `steps`: a case told in steps."""
