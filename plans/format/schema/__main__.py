"""Writes the JSON Schema of this release: ``python -m plans.format.schema``."""

from plans.format.schema import path, render

path().write_text(render(), encoding="utf-8")
print(path())
