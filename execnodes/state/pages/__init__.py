"""State as releases up to 1.5 kept it in Spark's state store, to be read once.

`page_format` is one page, `overlay` what had been written above pages.
"""
