"""The command line. Each command is a module; what they share are small modules without Spark."""
