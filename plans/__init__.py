"""Compiled plans: the JSON document, reading, writing, checking."""
