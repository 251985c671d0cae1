"""The command line: `rekindle`. Each command is a module; what they share are small modules without Spark."""
