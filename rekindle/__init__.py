"""Rekindle: long-running streaming SQL on Spark that can be upgraded."""
