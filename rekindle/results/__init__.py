"""What statements take and give: plans, read already or not yet, and results: their `values`, as a `tableau`."""
