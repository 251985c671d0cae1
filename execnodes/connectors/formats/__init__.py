"""What formats can do, one module each."""
