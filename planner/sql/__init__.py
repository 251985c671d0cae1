"""Flink's SQL on sqlglot: text to tokens, tokens to sqlglot's tree, its tree to Rekindle's syntax.

In the order of the walk: `source` (places), `words` (vocabulary), `plain_settings` (SET), `tokens`, `pure` (sqlglot's
Python build), `cursor`, `types` and `forms` (what Flink writes in its own way), `intervals`, `expression_parser`,
`hints`, `match_recognize`, `parser` (queries), `nodes` (what sqlglot has no node for), `convert` and `queries` (to
`planner.syntax`), `literals` (values), `script`, `statement_parser`, `create`, `alter`, `inserts`, `plans` and `show`
(Flink's statements), `foreign` (what other systems write), `dialect`.
Only these modules import sqlglot, and `planner.parse` imports them when there is text to parse.
"""

from planner.sql.pure import use_python_build

use_python_build()
