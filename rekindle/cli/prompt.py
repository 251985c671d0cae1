"""The prompt on a terminal: history, completion, editing over several lines. Needs the extra ``repl``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from execnodes.core.secrets import masked
from rekindle.cli.completion import candidates, is_complete

if TYPE_CHECKING:
    from prompt_toolkit.history import History

    from planner.catalog.catalogs import Catalog

Read = Callable[[str], str]
"""Takes a prompt, gives a line or more; EOFError at the end, KeyboardInterrupt for Ctrl-C."""


def reader(catalog: Catalog) -> Read:
    """The best there is: prompt_toolkit, or plain lines where it is not installed or input is no terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return input
    try:
        return _session(catalog)
    except ImportError:
        print("No history and no completion: prompt_toolkit is not installed (pip install 'rekindle[repl]').")
        return input


def _session(catalog: Catalog) -> Read:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.patch_stdout import patch_stdout

    class Names(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            for text, length, what in candidates(document.text_before_cursor, catalog):
                yield Completion(text, start_position=-length, display_meta=what)

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if is_ready(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    session: PromptSession[str] = PromptSession(
        history=history(),
        completer=Names(),
        complete_while_typing=False,
        multiline=True,
        key_bindings=keys,
        prompt_continuation=lambda width, number, wrapped: "...> ".rjust(width),
    )

    def read(prompt: str) -> str:
        # Jobs in the background may print while somebody types.
        with patch_stdout(raw=True):
            return session.prompt(prompt)

    return read


WORDS = ("QUIT", "EXIT", "HELP")
"""What is known beside SQL; they need no semicolon."""


def is_ready(text: str) -> bool:
    """Whether Enter sends what has been typed."""
    return not text.strip() or text.strip().rstrip(";").strip().upper() in ("", *WORDS) or is_complete(text)


def history() -> History:
    """What was typed before, without its secrets; kept in the folder of jobs."""
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    from rekindle.jobs.home import home

    file = home() / "history"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    except OSError:
        return InMemoryHistory()

    class Masked(FileHistory):
        def store_string(self, string: str) -> None:
            super().store_string(masked(string))

    return Masked(str(file))
