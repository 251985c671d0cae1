"""Plans, their differences and verdicts for people and programs: text, terminal, JSON, Markdown, HTML."""
