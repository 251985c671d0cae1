"""How nodes say what runs: `stream` is what those of streams are offered; the others write Spark SQL texts."""
