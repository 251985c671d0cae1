"""Functions that users write in Python."""
