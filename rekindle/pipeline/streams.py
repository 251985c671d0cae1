"""Spark's streams in a pipeline's query: their names, and their order."""

from __future__ import annotations

from collections.abc import Iterator

from rekindle.connectors.line_text import stream_name
from rekindle.pipeline.record import SourceRecord
from rekindle.pipeline.ways import Pipeline


def source_stream(source: SourceRecord) -> str:
    """Name of the stream that a source's rows come from."""
    return f"values_{source.node.id}" if source.table is None else stream_name(source.uid)


def control_stream(source: SourceRecord) -> str:
    """Name of the stream that ends a source with event time."""
    return f"control_{source.node.id}"


def controlled(pipeline: Pipeline, source: SourceRecord) -> bool:
    """Whether a source has a control stream: its rows move the watermark, and an operator waits for it."""
    return pipeline.uses_time and bool(source.event_times)


def streams(pipeline: Pipeline) -> Iterator[str]:
    """Names of all streams, in the order in which they stand in the query."""
    for origin, source in pipeline.record.sources.items():
        if pipeline.leaving(origin):
            yield source_stream(source)
            if controlled(pipeline, source):
                yield control_stream(source)
