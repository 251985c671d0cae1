"""Connectors: what a table's WITH options name. One module a connector, called as its identifier."""
