"""The pattern of MATCH_RECOGNIZE: refused where Flink does not look for it."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.match_spec import PatternVariable
from planner import syntax as s


def build_pattern(variables: tuple[s.PatternVariable, ...]) -> tuple[PatternVariable, ...]:
    """The pattern; SqlError for one that Flink does not look for."""
    found: list[PatternVariable] = []
    for each in variables:
        where = each.position
        if any(before.name == each.name for before in found):
            raise SqlError(
                "Pattern variables must be unique. That might change in the future.",
                position=where,
                hint=f"Call the second {each.name} otherwise, and give it the same condition in DEFINE.",
            )
        if each.most is not None and (each.most == 0 or each.most < each.least):
            raise SqlError(f"{each.name} takes {each.least} to {each.most} rows", position=where)
        if (each.least, each.most) == (0, 1) and each.reluctant:
            raise SqlError("Reluctant optional variables are not supported yet.", position=where, hint="Write ?.")
        variable = PatternVariable(
            name=each.name,
            min_rows=each.least,
            max_rows=-1 if each.most is None else each.most,
            reluctant=each.reluctant and each.least != each.most,
        )
        if found and found[-1].greedy and not variable.min_rows:
            raise SqlError(
                "Optional pattern cannot be preceded by greedy pattern",
                position=where,
                hint=f"Make {found[-1].name} reluctant: {found[-1]}?.",
            )
        found.append(variable)
    if found[-1].greedy:
        raise SqlError(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either "
            "a simple variable or reluctant quantifier.",
            position=variables[-1].position,
        )
    if not any(each.min_rows for each in found):
        raise SqlError(
            "Patterns that can produce empty matches are not supported. There must be at least one non-optional state.",
            position=variables[0].position,
        )
    return tuple(found)


def check_target(node: s.MatchRecognize, pattern: tuple[PatternVariable, ...]) -> None:
    """SqlError if SKIP TO names no variable, or one at which the match itself begins."""
    target = node.skip_variable
    if target is None:
        return
    (name,) = target.parts
    if all(each.name != name for each in pattern):
        raise SqlError(f"Unknown pattern '{name}'", position=target.position, hint="Name a variable of the pattern.")
    first = pattern[0]
    if first.name == name and (node.skip == "TO FIRST" or (first.min_rows, first.max_rows) == (1, 1)):
        raise SqlError(
            f"SKIP {node.skip} {name} finds the same match again, which begins there",
            position=target.position,
            hint="Write SKIP TO NEXT ROW.",
        )
