"""Formats of the filesystem connector. One module a format, called as its identifier (``-`` written ``_``)."""
