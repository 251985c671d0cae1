"""What rows and states mean, as trees: `term` is one, with its digest and its text.

`forms` compares them, `changes` finds what differs, `shown` shows it to people, and `stored` keeps terms in savepoints.
"""
