"""What EXPLAIN may be asked for besides the nodes, in SQL and in Python."""

DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")
