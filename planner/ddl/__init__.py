"""DDL, bound and applied: `apply` changes the catalog; tables are made (`create_table`), `like` others, altered.

Altering is `alter_table`; CREATE TABLE AS has `query_columns`.
"""

from planner.ddl.apply import DdlResult, execute, plan_insert

__all__ = ["DdlResult", "execute", "plan_insert"]
