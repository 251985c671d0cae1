"""Flink SQL dialect: text to statements and queries, by recursive descent."""

from planner.grammar import statements as statements
