"""What statements take and give: plans, read already or not yet, and results: their `json_values`, as a `tableau`."""
