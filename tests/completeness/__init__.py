"""Tests that walk the tree: nothing is listed by hand."""
