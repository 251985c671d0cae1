"""Nodes of batch plans."""
