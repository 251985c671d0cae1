"""Side-by-side timings: plain Spark and Rekindle in one run, with the same settings."""
