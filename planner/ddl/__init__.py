"""DDL, bound and applied: `apply` changes the catalog; tables are made (`create_table`), `like` others, altered."""

from planner.ddl.apply import DdlResult, execute

__all__ = ["DdlResult", "execute"]
