"""State of operators: what an `operator` declares, `kernel_types` of values, `pages` that keep it, `serializers`."""
