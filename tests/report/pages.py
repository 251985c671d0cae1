"""A report's page taken apart, and plans of any size to make one of."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from tests.check.plans import plan

_VOID = {"meta", "br", "col"}


@dataclass
class Page(HTMLParser):
    """Elements, ids, links and text; AssertionError for tags that do not fit together."""

    text: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    """Rows of tables."""
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th") and self.cells:
            self.cells[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if {"td", "th"} & set(self._open):
            self.cells[-1][-1] += data

    @property
    def ids(self) -> list[str]:
        return [found for _, each in self.elements if (found := each.get("id"))]

    def values(self, name: str) -> list[str]:
        """Of an attribute, wherever it stands."""
        return [found for _, each in self.elements if (found := each.get(name))]

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [each for _, each in self.elements if name in (each.get("class") or "").split()]


def large(function: str, sinks: int = 29) -> str:
    """A plan of some seven nodes a sink: chains, joins and unions over two sources."""
    tables = "".join(
        f"CREATE TABLE s{at} (k STRING, a BIGINT, b BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
        "WITH ('connector' = 'blackhole');\n"
        for at in range(sinks)
    )
    shapes = (
        "SELECT k, COUNT(*), {f}(v) FROM t WHERE v > {at} GROUP BY k",
        "SELECT t.k, t.v, x.s FROM t JOIN (SELECT k, {f}(v + {at}) AS s FROM r GROUP BY k) AS x ON t.k = x.k",
        "SELECT k, SUM(v), MAX(w) FROM (SELECT k, v, w FROM t WHERE w > {at} UNION ALL SELECT k, v, w FROM r "
        "WHERE v > {at}) GROUP BY k",
    )
    inserts = [
        f"INSERT INTO s{at} {shapes[at % 3].format(f=function, at=at)} ON CONFLICT DO DEDUPLICATE;"
        for at in range(sinks)
    ]
    return plan(f"{tables} EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;")
