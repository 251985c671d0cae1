"""Files of which a record may have several lines; Spark's reader of texts, which splits them, knows lines alone."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rekindle.connectors.csv_records import CsvRecords
from rekindle.connectors.few_files import FACTS, facts_ddl, naming, of_lines
from rekindle.connectors.files import batch_path, is_local
from rekindle.connectors.line_text import LINE
from rekindle.files.paths import AS_WRITTEN

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_BLOCK = 8 << 20
"""Bytes that are read at once."""
_SEARCHED, _MATCHED = 256 << 20, 4 << 20
"""Bytes of files that are searched for a quote here, and of those whose lines are tried; Spark's tasks do the rest."""
_KNOWN = ("file_path", "file_size", "file_block_start", "file_modification_time")
_COLUMNS = f"{LINE} BINARY{facts_ddl(_KNOWN)}"


def has_open_line(spark: SparkSession, paths: Sequence[str], records: CsvRecords) -> bool:
    """Whether any line of the files ends within a quoted field."""
    suspects, left = list[str](), _MATCHED
    searched = sum(os.path.getsize(each) for each in paths if _is_plain(each)) <= _SEARCHED
    for path in paths:
        if not (searched and _is_plain(path)):
            suspects.append(path)
            continue
        with naming(path), open(path, "rb") as file:
            data = file.read()
        if len(data) > left and records.quote.encode() in data:
            suspects.append(path)
        elif records.has_open_line(data.removeprefix(codecs.BOM_UTF8)):
            return True
        elif records.quote.encode() in data:
            left -= len(data)
    if not suspects:
        return False
    reader = spark.read.options(**AS_WRITTEN, ignoreMissingFiles="true")
    lines = reader.text([batch_path(spark, each) for each in suspects])
    return not lines.where(records.is_open(LINE)).isEmpty()


def frame_of_records(spark: SparkSession, paths: Sequence[str], records: CsvRecords) -> DataFrame:
    """As the lines of Spark's reader: the text of each record, and what is known of its file."""
    here = [each for each in paths if _is_plain(each)]
    frames = []
    if here:
        known = ((path, os.stat(path)) for path in here)
        files = [(path, each.st_size, each.st_mtime_ns // 1_000_000) for path, each in known]
        rows = spark.createDataFrame(files, "path STRING, size BIGINT, modified BIGINT")
        frames.append(rows.repartition(min(len(here), spark.sparkContext.defaultParallelism)))
    others = [batch_path(spark, each) for each in paths if each not in here]
    if others:
        whole = spark.read.options(**AS_WRITTEN).text(others, wholetext=True)
        facts = ", ".join(f"_metadata.{each} AS {each}" for each in _KNOWN)
        frames.append(whole.selectExpr(f"CAST({LINE} AS BINARY) AS {LINE}", f"struct({facts}) AS {FACTS}"))
    read = [frame.mapInArrow(_Records(records), _COLUMNS) for frame in frames]
    found = read[0] if len(read) == 1 else read[0].unionAll(read[1])
    return found.selectExpr(f"CAST({LINE} AS STRING) AS {LINE}", FACTS)


def _is_plain(path: str) -> bool:
    """Whether a file can be read as it lies on a disk."""
    return is_local(path) and of_lines(path) is not None


@dataclass(frozen=True, slots=True)
class _Records:
    """The body of a mapInArrow, over files or what they hold."""

    records: CsvRecords

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                blocks = _blocks(row["path"]) if "path" in row else iter([row[LINE].removeprefix(codecs.BOM_UTF8)])
                facts = _facts(row) if "path" in row else row[FACTS]
                for found in self.records.split(blocks):
                    if found:
                        yield _batch(found, facts)


def _blocks(path: str) -> Iterator[bytes]:
    with naming(path), open(path, "rb") as file:
        block = file.read(_BLOCK).removeprefix(codecs.BOM_UTF8)
        while block:
            yield block
            block = file.read(_BLOCK)


def _facts(row: dict[str, Any]) -> dict[str, Any]:
    from datetime import UTC, datetime, timedelta

    modified = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=row["modified"])
    values = (Path(row["path"]).as_uri(), row["size"], 0, modified)
    return dict(zip(_KNOWN, values, strict=True))


def _batch(records: list[bytes], facts: dict[str, Any]) -> pa.RecordBatch:
    import pyarrow as pa

    types = (pa.string(), pa.int64(), pa.int64(), pa.timestamp("us", "UTC"))
    columns = [pa.repeat(pa.scalar(facts[each], t), len(records)) for each, t in zip(_KNOWN, types, strict=True)]
    known = pa.StructArray.from_arrays(columns, list(_KNOWN))
    return pa.RecordBatch.from_arrays([pa.array(records, pa.binary()), known], [LINE, FACTS])
