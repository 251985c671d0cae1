"""The SQL expressions that functions are recorded by: the lines of `expressions.txt`, filled."""

from __future__ import annotations

import re
from pathlib import Path

_FILE = Path(__file__).with_name("expressions.txt")
KINDS = {
    "any": "ti si i b f d x x0 x38 bo s c v by1 bn dt tm ts ts0 ts6 ltz ltz6 ai sa m r",
    "ord": "ti si i b f d x x0 x38 bo s c v dt tm ts ts0 ts6 ltz ltz6",
    "num": "ti si i b f d x x0 x38",
    "exact": "ti si i b x x0 x38",
    "int": "ti si i b",
    "real": "d f i x38",
    "t": "s c v",
    "txt": "s u q c v",
    "col": "ai sa aa m mi",
    "arr": "ai sa ad aa",
    "nest": "ai sa ad aa m mi r ar",
    "dat": "dt ts ts0 ts6 ltz ltz6",
    "tim": "tm ts ts6 ltz",
    "tmp": "dt tm ts ts0 ts6 ltz ltz6",
    "to_num": "TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL(10,2)|DECIMAL(38,18)|DECIMAL(3,0)",
    "to_text": "STRING|CHAR(4)|VARCHAR(3)",
    "to_time": "DATE|TIME(0)|TIME(3)|TIMESTAMP(0)|TIMESTAMP(3)|TIMESTAMP(6)|"
    "TIMESTAMP_LTZ(0)|TIMESTAMP_LTZ(3)|TIMESTAMP_LTZ(6)",
}
"""What a name in braces stands for, in turn; the same one twice in a line is the same."""


def expressions() -> tuple[str, ...]:
    """All of them, each once, in the order of the file."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(dict.fromkeys(each for line in lines if line and not line.startswith("#") for each in expand(line)))


def expand(line: str) -> list[str]:
    """A line with each kind in it replaced by its members."""
    found = re.search(r"\{(\w+)\}", line)
    if found is None:
        return [line]
    members = KINDS[found[1]]
    filled = (line.replace(found[0], each) for each in members.split("|" if "|" in members else " "))
    return [each for one in filled for each in expand(one)]
