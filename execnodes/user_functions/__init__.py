"""Functions that users write in Python: what they say about themselves, and how a plan names them."""
