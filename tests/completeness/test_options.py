"""Options are documented, and the page is the one the code would write."""

import pytest

from docs.options_page import PAGE, render
from execnodes.core.options import OPTIONS, ConfigOption


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run `make goldens` and review the difference"


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.key)
def test_every_option_is_sound(option: ConfigOption) -> None:
    assert option.check(option.default) == option.default
    assert option.description.endswith(".")
    assert bool(option.choices) == (option.kind == "enum")
    assert f"`{option.key}`" in render()
