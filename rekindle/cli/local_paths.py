"""Paths on the command line are local ones: each command gets this when the application is made, so none forgets it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, TypeVar, get_args, get_type_hints

from typer.models import ParameterInfo

from execnodes.core.local_paths import parse_local_path

P = ParamSpec("P")
R = TypeVar("R")


def with_local_paths(command: Callable[P, R]) -> Callable[P, R]:
    """The command, of which parameters of type `Path` take a path or a ``file:`` address; PathError for another one."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        return command(*args, **kwargs)

    hints = get_type_hints(command, include_extras=True)
    for info in path_parameters(hints).values():
        info.parser = parse_path
    # Typer would read annotations that are texts once more, which makes other objects of them.
    given = signature(command)
    parameters = [each.replace(annotation=hints[each.name]) for each in given.parameters.values()]
    run.__signature__ = given.replace(parameters=parameters)  # type: ignore[attr-defined]  # what `inspect` looks for
    run.__annotations__ = hints
    return run


def path_parameters(hints: Mapping[str, object]) -> dict[str, ParameterInfo]:
    """Of a command's annotations those that are a path, or hold some, with what Typer knows of them."""
    return {name: info for name, each in hints.items() if _holds_path(each) for info in _infos(each)}


def parse_path(text: str | Path) -> Path:
    """The path that a word of the command line names."""
    return Path(parse_local_path(text))


def _infos(annotation: object) -> list[ParameterInfo]:
    return [each for each in get_args(annotation) if isinstance(each, ParameterInfo)]


def _holds_path(annotation: object) -> bool:
    return annotation is Path or any(map(_holds_path, get_args(annotation)))
