"""Records of CSV over several lines: how files are split, and that every way of reading them gives the same rows."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.errors import ConnectorError
from rekindle.connectors import long_records
from rekindle.connectors.csv_records import CsvRecords
from rekindle.connectors.few_files import Lines, told_of
from rekindle.connectors.registry import describe_failure
from tests.connectors.helpers import read, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN = CsvRecords(",", '"', "", comments=False)
ODD = CsvRecords("§", "'", "\\", comments=True)


def _split(records: CsvRecords, data: bytes, most: int) -> list[str]:
    blocks: Iterator[bytes] = iter([data[at : at + most] for at in range(0, len(data), most)])
    return [each.decode() for found in records.split(blocks) for each in found]


@pytest.mark.parametrize(
    ("records", "text", "expected"),
    [
        (PLAIN, 'a,1\n"b\nc",2\n', ["a,1", '"b\nc",2']),
        (PLAIN, '"a\r\nb",1\r\nc,2\r\n', ['"a\r\nb",1', "c,2"]),
        (PLAIN, 'a,1\rb,2\n"c\rd",3', ["a,1", "b,2", '"c\rd",3']),
        (PLAIN, '5" x,"abc\nd",1\ne,2', ['5" x,"abc\nd",1', "e,2"]),
        (PLAIN, '"a"x,1\nb,2\n', ['"a"x,1', "b,2"]),
        (PLAIN, ' "a\nb",2\n', [' "a', 'b",2']),
        (PLAIN, '\n\na,1\n"x""y\n\n,",2\n', ["", "", "a,1", '"x""y\n\n,",2']),
        (PLAIN, '"a" ,1\n"b"\n,2', ['"a" ,1', '"b"', ",2"]),
        (PLAIN, 'a,"1\n"\n', ['a,"1\n"']),
        (PLAIN, 'é,"ü\n",3', ['é,"ü\n",3']),
        (PLAIN, '"a,1\nb,2\nc,3\n', ['"a,1\nb,2\nc,3\n']),
        (PLAIN, "", []),
        (ODD, "'a\\'\nb'§2\n'c'§'d\\\\'\n", ["'a\\'\nb'§2", "'c'§'d\\\\'"]),
        (ODD, " #it's\n#'a\n'b\n#c'§1\n", [" #it's", "#'a", "'b\n#c'§1"]),
    ],
)
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_files_are_split_at_the_ends_of_records(records: CsvRecords, text: str, expected: list[str], most: int) -> None:
    assert _split(records, text.encode(), most) == expected
    assert records.has_open_line(text.encode()) or expected == text.splitlines()


EXPORT = 'a,1\r\n"b\r\nc, ""d""\n",2\r\n\r\n5" disk,3\r\n"é",4'
ROWS = [("a", 1), ('b\r\nc, "d"\n', 2), ('5" disk', 3), ("é", 4)]


def _table(path: Path, **options: str) -> Any:
    given = {"connector": "filesystem", "format": "csv", "path": str(path)}
    return table({"s": "STRING", "i": "INT"}, given | {f"csv.{key.replace('_', '-')}": v for key, v in options.items()})


def test_a_task_that_reads_few_files_splits_them(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(codecs.BOM_UTF8 + EXPORT.encode())
    told = told_of(str(tmp_path / "f.csv"))
    (batch,) = Lines((), PLAIN)([told or []])
    found = [each.decode() for each in batch.column(0).to_pylist()]
    assert found == ["a,1", '"b\r\nc, ""d""\n",2', "", '5" disk,3', '"é",4']


@pytest.mark.spark
def test_quoted_fields_may_have_line_ends(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = codecs.BOM_UTF8 + EXPORT.encode()
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "a b.csv").write_bytes(data)
    (tmp_path / "t" / "c.csv.gz").write_bytes(gzip.compress(EXPORT.encode()))
    assert sorted(read(spark, _table(tmp_path / "t"), tmp_path / "job", batch=True)) == sorted(ROWS * 2)
    assert sorted(read(spark, _table(tmp_path / "t"), tmp_path / "job")) == sorted(ROWS * 2)
    assert read(spark, _table(tmp_path / "t" / "a b.csv"), tmp_path / "job") == ROWS
    # Large files are looked through by tasks.
    monkeypatch.setattr(long_records, "_MATCHED", 1)
    monkeypatch.setattr(long_records, "_BLOCK", 4)
    assert read(spark, _table(tmp_path / "t" / "a b.csv"), tmp_path / "job", batch=True) == ROWS


@pytest.mark.spark
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('a,1\n"b"x,2\n', 2, "a quoted field is not closed, or text follows it"),
        ('a,1\n\n"b,2\nc,3\n', 3, "a quoted field is not closed, or text follows it"),
        ('a,1\n"b\nc",x\n', 2, "field 'i': not a value of type INT: 'x'"),
        ('"a\nb",1\nc\n', 3, "the line has not the 2 fields of the table"),
    ],
)
def test_bad_records_are_named_by_their_first_line(
    spark: SparkSession, tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = tmp_path / "f.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Exception, match="rekindle-bad-line") as raised:
        read(spark, _table(path), tmp_path / "job", batch=True)
    error = describe_failure(raised.value)
    assert isinstance(error, ConnectorError)
    assert (error.where, error.message) == (f"{path}, line {line}", message)
