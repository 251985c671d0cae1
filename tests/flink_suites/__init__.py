"""Flink's own tests of functions and expressions, run against this engine: ``make test-flink``.

Flink's test classes are read on the JVM out of its published test jars, as data: SQL, input, expected type and value or
refusal. Nothing of Flink's is kept here. `ledger.txt` names each case that does not pass, with a reason, so that a case
which newly fails or newly passes fails the run; `score.json` is what docs/support.md shows.
"""
