"""Flink SQL text to syntax trees: lexer, cursor, and one module for each part of the grammar."""
