"""Examples; each is run with `python -m examples.<name>`."""
