"""DDL, bound and applied: `statements` change the catalog; tables are made (`create_table`), `like` others, altered."""

from planner.ddl.statements import DdlResult, execute

__all__ = ["DdlResult", "execute"]
