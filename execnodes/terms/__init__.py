"""What rows and states mean, as trees: `term` is one with its digest and its text."""
