"""One function a rule: it compares, and gives what it compared in words."""
