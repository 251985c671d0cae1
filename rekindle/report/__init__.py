"""Plans, their differences and verdicts for people and programs.

What there is to show: `checked`, `documents`, `advice`, by `signs`. How: plain lines and terminals (`texts`),
`markdown`, `html`, with a picture by `graph_layout`.
"""
