"""DESCRIBE and SHOW CREATE give the texts of Flink 2.3."""

from __future__ import annotations

from rekindle.api.table_environment import TableEnvironment

_TABLE = """
CREATE TABLE t (
  a INT NOT NULL, b STRING COMMENT 'the b', f ROW<x INT, `STRING` STRING NOT NULL>, m MAP<STRING, INT>, z BYTES,
  l TIMESTAMP_LTZ(3), e TIMESTAMP(3), WATERMARK FOR `e` AS `e` - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT ENFORCED
) COMMENT 'tab' PARTITIONED BY (b) WITH ('connector' = 'datagen')
"""
_SHOWN = """\
CREATE TABLE `default_catalog`.`default_database`.`t` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'the b',
  `f` ROW<`x` INT, `STRING` VARCHAR(2147483647) NOT NULL>,
  `m` MAP<VARCHAR(2147483647), INT>,
  `z` VARBINARY(2147483647),
  `l` TIMESTAMP(3) WITH LOCAL TIME ZONE,
  `e` TIMESTAMP(3),
  WATERMARK FOR `e` AS `e` - INTERVAL '5' SECOND,
  CONSTRAINT `PK_a` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'tab'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'datagen'
)
"""


def test_show_create_table_spells_types_out() -> None:
    env = TableEnvironment.create()
    env.execute_sql(_TABLE)
    assert env.execute_sql("SHOW CREATE TABLE t").rows == [(_SHOWN,)]


def test_show_create_view_has_a_line_for_each_column() -> None:
    env = TableEnvironment.create()
    env.execute_sql("CREATE VIEW v (i, `x y`) COMMENT 'a view' AS SELECT INTERVAL '1' DAY, 1")
    ((text,),) = env.execute_sql("SHOW CREATE VIEW v").rows
    head = "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `i`,\n  `x y`\n)\nCOMMENT 'a view'\n"
    assert text == f"{head}AS SELECT INTERVAL '1' DAY, 1\n"


def test_describe_has_time_attributes_in_streams_alone() -> None:
    for mode, expected in (("batch", "TIMESTAMP(3)"), ("streaming", "TIMESTAMP(3) *ROWTIME*")):
        env = TableEnvironment.create({"execution.runtime-mode": mode})
        env.execute_sql(_TABLE)
        rows = {row[0]: row for row in env.execute_sql("DESCRIBE t").rows}
        assert rows["e"] == ("e", expected, True, None, None, "`e` - INTERVAL '5' SECOND", None)
        assert rows["a"] == ("a", "INT", False, "PRI(a)", None, None, None)


def test_describe_prints_intervals_with_their_digits() -> None:
    env = TableEnvironment.create()
    env.execute_sql("CREATE VIEW v AS SELECT INTERVAL '1' DAY AS i, ARRAY[INTERVAL '1' MONTH] AS m")
    rows = [row[:3] for row in env.execute_sql("DESCRIBE v").rows]
    assert rows == [("i", "INTERVAL SECOND(3)", False), ("m", "ARRAY<INTERVAL MONTH NOT NULL>", False)]
