"""Older PySparks: what stands in for what they lack, and their savepoints."""
