"""``python -m rekindle``: the command line."""

from rekindle.cli.main import run

run()
