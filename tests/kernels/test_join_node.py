"""The join, deduplicate and changelog-normalize nodes: what they refuse, how they lower, what their JSON keeps."""

from __future__ import annotations

import pytest

from execnodes.core.changelog import INSERT_ONLY, RETRACT, UPSERT, ChangelogMode
from execnodes.core.errors import PlanError
from execnodes.core.expressions import Call, InputRef
from execnodes.core.node import ExecNode, StateMetadata
from execnodes.core.types import BIGINT, BOOLEAN, INT, STRING, Field, LogicalType, decimal, row, timestamp, varchar
from execnodes.lowering.stream import Branch, OperatorInput, Rows
from execnodes.state.operator import Operator
from execnodes.stream.changelog_normalize import ChangelogNormalize
from execnodes.stream.deduplicate import Deduplicate
from execnodes.stream.deduplicate.v1_kernel import KeepFirstToArrive, KeepLast
from execnodes.stream.deduplicate.v2_kernel import KeepFirstByTime
from execnodes.stream.join import Join
from execnodes.stream.join.v1_kernel import JoinOperator

LEFT = row(Field("k", STRING), Field("n", INT))
RIGHT = row(Field("k", varchar(5)), Field("m", INT))
BOTH = row(*LEFT.fields, Field("k0", varchar(5)), Field("m", INT))
UPPER = Call(internal_name="$UPPER$1", operands=(InputRef(input_index=0, type=STRING),), type=BOOLEAN)
FAR = Call(internal_name="$IS TRUE$1", operands=(InputRef(input_index=9, type=BOOLEAN),), type=BOOLEAN)


class Recorder:
    """Stands in for the runtime."""

    zone = "UTC"

    def operator(self, node: ExecNode, operator: Operator, inputs: tuple[OperatorInput, ...]) -> Rows:
        self.made = operator
        self.keys = [each.keys for each in inputs]
        return Rows(node.output_type, (Branch(node.id, ()),))


def lowered(node: ExecNode, *types: LogicalType) -> Recorder:
    recorder = Recorder()
    node.lower(recorder, tuple(Rows(each, ()) for each in types))  # type: ignore[arg-type]
    return recorder


def join(mode: ChangelogMode = INSERT_ONLY, spec: dict[str, object] | None = None) -> Join:
    described: dict[str, object] = {
        "join_type": "INNER",
        "left_keys": (0,),
        "right_keys": (0,),
        "filter_nulls": (True,),
        **(spec or {}),
    }
    semi = described["join_type"] in ("SEMI", "ANTI")
    fields: dict[str, object] = {
        "id": 5,
        "join_spec": described,
        "left_upsert_keys": ((1,), (0,)),
        "state": (StateMetadata(index=0, name="leftState", ttl="1 h"), StateMetadata(index=1, name="rightState")),
        "output_type": LEFT if semi else BOTH,
        "changelog_mode": mode,
        "description": "Join",
    }
    return Join.model_validate(fields)


def test_join_lowers_to_one_operator_spread_by_its_keys() -> None:
    recorder = lowered(join(), LEFT, RIGHT)
    assert isinstance(recorder.made, JoinOperator)
    assert recorder.keys == [(0,), (0,)]
    assert [(spec.name, spec.ttl_ms) for spec in recorder.made.states] == [("leftState", 3_600_000), ("rightState", 0)]
    assert join().uids() == ("5_join",)
    assert not recorder.made.ordered


def test_each_side_is_spread_by_its_own_keys() -> None:
    turned = row(*reversed(RIGHT.fields))
    assert lowered(join(spec={"right_keys": (1,)}), LEFT, turned).keys == [(0,), (1,)]


@pytest.mark.parametrize(("mode", "key"), [(UPSERT, (0,)), (RETRACT, None)])
def test_only_a_key_within_the_join_key_replaces_rows(mode: ChangelogMode, key: tuple[int, ...] | None) -> None:
    made = lowered(join(mode), LEFT, RIGHT).made
    assert isinstance(made, JoinOperator)
    assert (made.left.upsert_key, made.right.upsert_key) == (key, None)
    assert made.emits_update_before == (mode == RETRACT)


@pytest.mark.parametrize(
    ("spec", "right", "message"),
    [
        ({"right_keys": ()}, RIGHT, "differ in length"),
        ({"left_keys": (7,)}, RIGHT, "not all columns of its input"),
        ({"right_keys": (1,)}, RIGHT, r"(?s)k STRING and m INT differ in type.*CAST"),
        ({"non_equi_condition": FAR}, RIGHT, "reads columns"),
        ({"non_equi_condition": UPPER}, RIGHT, r"(?s)cannot be evaluated inside it.*subquery"),
        ({}, row(Field("k", STRING)), "output has 4 columns instead of 3"),
    ],
)
def test_join_refuses(spec: dict[str, object], right: LogicalType, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        join(INSERT_ONLY, spec).check((LEFT, right))


def test_decimal_keys_must_look_alike_inside_kernels() -> None:
    narrow, wide = (row(Field("k", decimal(p, 2)), Field("m", INT)) for p in (10, 20))
    join(spec={"join_type": "SEMI"}).check((row(Field("k", decimal(12, 2)), Field("n", INT)), narrow))
    with pytest.raises(PlanError, match="differ in type"):
        join(spec={"join_type": "SEMI"}).check((narrow, wide))


EVENTS = row(Field("k", STRING), Field("ts", timestamp(3)))


def deduplicate(by_time: bool, last: bool) -> Deduplicate:
    return Deduplicate(
        id=3,
        unique_keys=(0,),
        is_rowtime=by_time,
        time_attribute_index=1,
        keep_last_row=last,
        output_insert_only=not last,
        output_type=EVENTS,
        description="Deduplicate",
    )


@pytest.mark.parametrize(
    ("by_time", "last", "kernel"),
    [
        (True, True, KeepLast),
        (False, True, KeepLast),
        (True, False, KeepFirstByTime),
        (False, False, KeepFirstToArrive),
    ],
)
def test_deduplicate_chooses_its_kernel(by_time: bool, last: bool, kernel: type[Operator]) -> None:
    recorder = lowered(deduplicate(by_time, last), EVENTS)
    assert type(recorder.made) is kernel
    assert recorder.keys == [(0,)]


def test_deduplicate_refuses() -> None:
    with pytest.raises(PlanError, match="event time m is INT"):
        deduplicate(True, True).check((RIGHT,))
    with pytest.raises(PlanError, match="not all columns"):
        deduplicate(True, True).check((row(Field("k", STRING)),))


def normalize(*keys: int) -> ChangelogNormalize:
    return ChangelogNormalize(
        id=2, unique_keys=keys, generate_update_before=True, output_type=LEFT, description="ChangelogNormalize"
    )


def test_normalize_lowers_and_refuses() -> None:
    assert lowered(normalize(0), LEFT).keys == [(0,)]
    with pytest.raises(PlanError, match="is not made of columns"):
        normalize().check((LEFT,))
    with pytest.raises(PlanError, match="must have the columns"):
        normalize(0).check((row(*LEFT.fields, Field("x", BIGINT)),))


@pytest.mark.parametrize("node", [join(UPSERT), deduplicate(True, False), normalize(0)], ids=lambda node: str(node.key))
def test_json_round_trip(node: ExecNode) -> None:
    assert type(node).model_validate_json(node.model_dump_json(by_alias=True)) == node
