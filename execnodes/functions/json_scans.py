"""Steps of JSON paths that read all that is within a value: scans (``..``) and aggregates (``.min()``)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

TEXT_MARK, OTHER_MARK = "\ue000", "\ue001"
"""Before texts, and before numbers, TRUE and FALSE, in a parsed document (`json_paths`)."""
_DEEPEST = 1000
"""Levels that a scan goes down; Flink's parser of JSON reads no more."""


def scan(scope: Scope, value: str) -> str:
    """The ARRAY of all lists and objects within a VARIANT, each before those within it; NULL of JSON's null.

    Level by level, with the place of each, by which they are sorted at last.
    """
    state, each, member, at, one, other = (scope.fresh() for _ in range(6))
    start = f"array(named_struct('p', array(0), 'v', {value}))"
    below = (
        f"flatten(transform({state}.level, {each} -> transform({_parts(f'{each}.v')}, ({member}, {at}) ->"
        f" named_struct('p', concat({each}.p, array({at})), 'v', {member}))))"
    )
    step = f"named_struct('level', {_containers(scope, below)}, 'found', concat({state}.found, {state}.level))"
    first = f"named_struct('level', {_containers(scope, start)}, 'found', filter({start}, {each} -> FALSE))"
    order = f"CASE WHEN {one}.p < {other}.p THEN -1 WHEN {one}.p > {other}.p THEN 1 ELSE 0 END"
    depth = f"length(regexp_replace(CAST({value} AS STRING), '[^\\\\[{{]', ''))"
    levels = f"sequence(1, greatest(least(coalesce({depth}, 1), {_DEEPEST}), 1))"
    done = f"transform(array_sort({state}.found, ({one}, {other}) -> {order}), {each} -> {each}.v)"
    found = (
        f"aggregate({levels}, {first}, ({state}, {at}) -> if(size({state}.level) = 0, {state}, {step}),"
        f" {state} -> {done})"
    )
    return f"if({value} IS NULL OR is_variant_null({value}), NULL, {found})"


def length_of(value: str) -> str:
    """How many members or fields a VARIANT has, as one; NULL if it has none."""
    members, entries = f"try_cast({value} AS ARRAY<VARIANT>)", f"try_cast({value} AS MAP<STRING, VARIANT>)"
    size = f"coalesce(if({members} IS NULL, NULL, size({members})), if({entries} IS NULL, NULL, size({entries})))"
    return f"try_parse_json(concat('\"', {text_literal(OTHER_MARK)}, {size}, '\"'))"


def object_of(scope: Scope, value: str, names: Sequence[str]) -> str:
    """Some fields of a VARIANT that is an object, as one."""
    each = scope.fresh()
    fields = (f"concat({text_literal(f'{json.dumps(name)}:')}, to_json({_field(value, name)}))" for name in names)
    there = f"filter(array({', '.join(fields)}), {each} -> {each} IS NOT NULL)"
    made = f"try_parse_json(concat('{{', array_join({there}, ','), '}}'))"
    return f"if(try_cast({value} AS MAP<STRING, VARIANT>) IS NULL, NULL, {made})"


def _field(value: str, name: str) -> str:
    path = f"$['{name}']"
    return f"variant_get({value}, {text_literal(path)}, 'variant')"


def _containers(scope: Scope, places: str) -> str:
    each = scope.fresh()
    return f"filter({places}, {each} -> {_parts(f'{each}.v')} IS NOT NULL)"


def _parts(value: str) -> str:
    return f"coalesce(try_cast({value} AS ARRAY<VARIANT>), map_values(try_cast({value} AS MAP<STRING, VARIANT>)))"


def function_of(scope: Scope, value: str, text: str) -> str:
    """What a function at the end of a path makes of a VARIANT, as one: ``min``, ``index:-1``; NULL if it cannot."""
    name, _, place = text.partition(":")
    members = f"try_cast({value} AS ARRAY<VARIANT>)"
    if name in ("first", "last", "index"):
        at = {"first": 1, "last": -1}.get(name) or int(place)
        return f"try_element_at({members}, {at + 1 if name == 'index' and at >= 0 else at})"
    if name == "keys":
        key = scope.fresh()
        keys = f"map_keys(try_cast({value} AS MAP<STRING, VARIANT>))"
        return f"try_parse_json(to_json(transform({keys}, {key} -> concat({text_literal(TEXT_MARK)}, {key}))))"
    result = scope.share(_numbers(scope, members), lambda numbers: _aggregate(scope, numbers, name))
    return f"try_parse_json(concat('\"', {text_literal(OTHER_MARK)}, CAST({result} AS STRING), '\"'))"


def _numbers(scope: Scope, members: str) -> str:
    """The numbers among them, as DOUBLEs; NULL where there are none."""
    each = scope.fresh()
    text = f"CAST({each} AS STRING)"
    number = f"if(left({text}, 1) = {text_literal(OTHER_MARK)}, try_cast(substring({text}, 2) AS DOUBLE), NULL)"
    found = f"filter(transform({members}, {each} -> {number}), {each} -> {each} IS NOT NULL)"
    return f"nullif({found}, CAST(array() AS ARRAY<DOUBLE>))"


def _aggregate(scope: Scope, numbers: str, name: str) -> str:
    if name in ("min", "max"):
        return f"array_{name}({numbers})"
    total, each = scope.fresh(), scope.fresh()
    summed = f"aggregate({numbers}, 0D, ({total}, {each}) -> {total} + {each})"
    if name == "sum":
        return summed
    mean = f"{summed} / size({numbers})"
    if name == "avg":
        return mean
    squares = f"aggregate({numbers}, 0D, ({total}, {each}) -> {total} + {each} * {each})"
    return f"sqrt({squares} / size({numbers}) - {summed} * {summed} / size({numbers}) / size({numbers}))"
