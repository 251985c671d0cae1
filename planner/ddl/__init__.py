"""DDL, bound and applied: `apply` changes the catalog; tables are made (`create_table`), `like` others, altered.

Altering is `alter_table`.
"""

from planner.ddl.apply import DdlResult, execute

__all__ = ["DdlResult", "execute"]
