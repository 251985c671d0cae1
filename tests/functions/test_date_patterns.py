"""Patterns that Java has, and those that Spark has, too."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, InputRef, Literal
from execnodes.core.types import STRING, LogicalType, timestamp
from execnodes.functions import resolve
from execnodes.functions.date_patterns import parts


def bound(name: str, t: LogicalType, pattern: str) -> Call:
    call = resolve(name, [InputRef(input_index=0, type=t), Literal(value=pattern, type=STRING.not_null())])
    assert isinstance(call, Call)
    return call


@pytest.mark.parametrize(
    "pattern", ["b", "MMMMMM", "'a", "yyyy]", "{", "#", "aa", "cc", "VVV", "www", "ß b", "yyyy-MM-DDDD"]
)
def test_what_java_refuses(pattern: str) -> None:
    assert parts(pattern, simple=False) is None


@pytest.mark.parametrize("pattern", ["", "yyyy-MM-dd''HH", "[yyyy", "'a''b'ß", "y", "SSSSSSSSS", "日", "e eeeee"])
def test_what_java_takes(pattern: str) -> None:
    found = parts(pattern, simple=False)
    assert found is not None
    assert "".join(each.text for each in found) == pattern


@pytest.mark.parametrize(
    ("name", "t", "pattern", "said"),
    [
        ("TO_DATE", STRING, "ww yyyy", "letter 'w'"),
        ("TO_DATE", STRING, "uuuu", "letter 'u'"),
        ("UNIX_TIMESTAMP", STRING, "b", "Java has no such pattern"),
        ("TO_TIMESTAMP_LTZ", STRING, "b", "Java has no such pattern"),
        ("TO_TIMESTAMP", STRING, "YYYY", "letter 'Y'"),
        ("DATE_FORMAT", STRING, "e", "Java has no such pattern"),
        ("DATE_FORMAT", timestamp(3), "YYYY B", "letter 'B'"),
        ("DATE_FORMAT", timestamp(3), "MMMMM", "'MMMMM'"),
        ("DATE_FORMAT", timestamp(3), "ppH", "letter 'p'"),
    ],
)
def test_patterns_that_cannot_be_are_refused_by_name(name: str, t: LogicalType, pattern: str, said: str) -> None:
    with pytest.raises(SqlError, match="is not supported: ") as raised:
        bound(name, t, pattern)
    assert said in raised.value.message
    assert str(raised.value.hint).startswith("Letters that work: y ")


def test_versions_come_where_they_differ() -> None:
    """Plans and states of others stay what they were."""
    versions = {
        (name, pattern): bound(name, t, pattern).internal_name
        for name, t, pattern in (
            ("DATE_FORMAT", timestamp(3), "uuuu-MM"),
            ("DATE_FORMAT", timestamp(3), "YYYY"),
            ("DATE_FORMAT", STRING, "u"),
            ("TO_TIMESTAMP", STRING, "uuuu"),
            ("TO_TIMESTAMP", STRING, "b"),
        )
    }
    assert list(versions.values()) == [
        "$DATE_FORMAT$1",
        "$DATE_FORMAT$2",
        "$DATE_FORMAT$3",
        "$TO_TIMESTAMP$3",
        "$TO_TIMESTAMP$2",
    ]
    assert bound("DATE_FORMAT", timestamp(3), "uuuu-MM").operands[1] == Literal(value="yyyy-MM", type=STRING.not_null())


def test_patterns_of_columns_have_versions_of_their_own() -> None:
    text = InputRef(input_index=0, type=STRING)
    calls = [resolve(name, [text, *more]) for name in ("TO_TIMESTAMP", "TO_TIMESTAMP_LTZ") for more in ([text], [])]
    names = [each.internal_name for each in calls if isinstance(each, Call)]
    assert names == ["$TO_TIMESTAMP$4", "$TO_TIMESTAMP$3", "$TO_TIMESTAMP_LTZ$5", "$TO_TIMESTAMP_LTZ$6"]
