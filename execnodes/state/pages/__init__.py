"""The page store: `pages` over a map state of Spark.

`page_format` is one page, `page_directory` what there is of them, `overlay` (in `overlay_segments`) what has been
written since, `map_client` and `spark_client` the map, `page_cache` the pages at hand.
"""
