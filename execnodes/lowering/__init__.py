"""How nodes say what runs: `stream` and `batch` are what they are offered; the others write Spark SQL texts."""
