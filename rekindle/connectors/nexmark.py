"""Connector nexmark: persons, auctions and bids of the Nexmark benchmark, by event number and seed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from execnodes.connectors.nexmark import CONNECTOR
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.options import Kind, parse_duration
from execnodes.core.tables import Column
from execnodes.core.types import LogicalType, Root
from rekindle.connectors.base import SourceConnector, SourceFrame, SourceRequest
from rekindle.connectors.generated import NumberPositions, generated, random_below, random_bits, random_unit
from rekindle.connectors.line_text import string
from rekindle.connectors.options import TableOption, TableOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHAPE = "Events have one pace, sizes and skew of their own."
_SHAPES: tuple[tuple[str, Kind, str], ...] = (
    ("rate.shape", "text", "SQUARE"),
    ("rate.period", "duration", "10 min"),
    ("rate.limited", "bool", "false"),
    ("max-emit-speed", "bool", "false"),
    ("keep-alive", "bool", "false"),
    ("person.avg-size", "text", "200 b"),
    ("auction.avg-size", "text", "500 b"),
    ("bid.avg-size", "text", "100 b"),
    ("bid.hot-ratio.auctions", "int", "2"),
    ("bid.hot-ratio.bidders", "int", "4"),
    ("auction.hot-ratio.sellers", "int", "4"),
)
"""Options of the benchmark's own generator that change nothing here: keys, kinds, defaults."""

OPTIONS = (
    TableOption("events.num", "int", "0", "Number of events; 0 for no end."),
    TableOption("rows-per-second", "int", "0", "Pace in wall-clock time; 0 for as fast as they are taken."),
    TableOption("first-event.rate", "int", "10000", "Events per second of event time."),
    TableOption("base-time", "text", "2024-01-01 00:00:00", "Event time of event 0, UTC."),
    TableOption("out-of-orderness", "duration", "0 ms", "Event times are up to this much behind their order."),
    TableOption("seed", "int", "1", "Another seed gives other events."),
    TableOption("person.proportion", "int", "1", "Persons in a round of events."),
    TableOption("auction.proportion", "int", "3", "Auctions in a round of events."),
    TableOption("bid.proportion", "int", "46", "Bids in a round of events."),
    TableOption("next-event.rate", "int", "", "Events per second in the end: the same as first-event.rate."),
    *(TableOption(key, kind, default, _SHAPE, inert=True) for key, kind, default in _SHAPES),
)

_ALIASES = {
    "datetime": "ts", "date_time": "ts", "emailaddress": "email", "creditcard": "card", "credit_card": "card",
    "itemname": "item", "item_name": "item", "description": "descr", "initialbid": "start_price",
    "initial_bid": "start_price",
}  # fmt: skip
"""Names of the benchmark's other implementations, in lower case."""

_FIRST_NAMES = ("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter")
_LAST_NAMES = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
_CITIES = (
    "Phoenix",
    "Los Angeles",
    "San Francisco",
    "Boise",
    "Portland",
    "Bend",
    "Redmond",
    "Seattle",
    "Kent",
    "Cheyenne",
)
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_ITEMS = ("tin robot", "radio", "wall clock", "oak chair", "brass lamp", "record player", "snow globe", "camera")
_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")


class Nexmark(SourceConnector):
    """Columns by name: kind INT (0 person, 1 auction, 2 bid) and the ROWs person, auction, bid, of which one is set."""

    declaration: ClassVar[ConnectorDeclaration] = CONNECTOR

    def declared(self, options: Mapping[str, str]) -> tuple[TableOption, ...]:
        """Options of the generator."""
        return OPTIONS

    def check_columns(self, columns: tuple[Column, ...], options: TableOptions, table: str) -> None:
        """Those that events have."""
        model = _Model(options, table)
        for column in columns:
            model.column(column)

    def positions(self, spark: SparkSession, request: SourceRequest) -> NumberPositions:
        """By event numbers."""
        options = self.opened(request.table, "source", request.name)
        most = request.configuration.number("execution.micro-batch.max-rows")
        rows = options.number("events.num") or -1
        return NumberPositions(request.name, rows, options.number("rows-per-second"), most)

    def read(self, spark: SparkSession, request: SourceRequest) -> SourceFrame:
        """Computed in the JVM from event numbers; what is not asked for is not computed."""
        options = self.opened(request.table, "source", request.name)
        model = _Model(options, request.name)
        texts = tuple(model.column(column) for column in request.columns)
        shared = model.shared()
        return generated(spark, request, shared, texts, options.number("events.num") or -1)


class _Model:
    """Spark SQL texts over the event number n."""

    def __init__(self, options: TableOptions, table: str) -> None:
        self._table = table
        self._seed = options.number("seed")
        self._persons = options.number("person.proportion")
        self._auctions = options.number("auction.proportion")
        self._round = self._persons + self._auctions + options.number("bid.proportion")
        if self._persons < 1 or self._auctions < 1:
            raise ConnectorError(
                "bids need persons and auctions: person.proportion and auction.proportion must be 1 or more",
                where=f"table {table}",
            )
        self._rate = max(options.number("first-event.rate"), 1)
        last = options.text("next-event.rate")
        if last and max(int(last), 1) != self._rate:
            raise ConnectorError(
                f"next-event.rate is {last}, first-event.rate {self._rate}: events have one pace",
                where=f"table {table}",
                hint="Give both the same number.",
            )
        self._late = parse_duration(options.text("out-of-orderness"), "out-of-orderness")
        try:
            base = dt.datetime.fromisoformat(options.text("base-time")).replace(tzinfo=dt.UTC)
        except ValueError as error:
            raise ConnectorError(
                f"base-time: {options.text('base-time')!r} is not a timestamp",
                where=f"table {table}",
                hint="Write e.g. '2024-01-01 00:00:00'.",
            ) from error
        self._base = int(base.timestamp() * 1000)
        self._bids = self._persons + self._auctions

    def shared(self) -> tuple[dict[str, str], dict[str, str]]:
        """What several columns need, in two steps: names to texts, the second ones over the first ones' names."""
        first = {"place": f"n % {self._round}", "rounds": f"n DIV {self._round}", "bits": random_bits(self._seed, "")}
        behind = f" - {self._below('late', self._late + 1)}" if self._late else ""
        last_person = f"rounds * {self._persons} + least(place, {self._persons - 1})"
        # In the persons at the beginning of a round the last auction is that of the round before.
        last_auction = f"rounds * {self._auctions} + least(place - {self._persons}, {self._auctions - 1})"
        return first, {
            "kind": f"CASE WHEN place >= {self._bids} THEN 2 WHEN place >= {self._persons} THEN 1 ELSE 0 END",
            "last_person": last_person,
            "last_auction": f"greatest(rounds * {self._auctions} - 1, 0, {last_auction})",
            "millis": f"{self._base} + n * 1000 DIV {self._rate}{behind}",
        }

    def column(self, column: Column) -> str:
        """Text of a column of the table."""
        from execnodes.lowering.spark_sql import spark_type

        rows = {"person": (0, self._person()), "auction": (1, self._auction()), "bid": (2, self._bid())}
        if column.name in ("kind", "event_type"):
            return f"CAST(kind AS {spark_type(column.data_type)})"
        if column.name not in rows or column.data_type.root is not Root.ROW:
            raise ConnectorError(
                f"column {column.name} {column.data_type} is not one of this connector",
                where=f"table {self._table}",
                hint="Its columns are: kind INT (or event_type INT), person ROW<…>, auction ROW<…>, bid ROW<…>.",
            )
        kind, texts = rows[column.name]
        cells = []
        for field in column.data_type.fields:
            key = _ALIASES.get(field.name.lower(), field.name)
            if key not in texts:
                raise ConnectorError(
                    f"column {column.name!r}: unknown field {field.name!r}",
                    where=f"table {self._table}",
                    hint=f"Its fields are: {', '.join(texts)}.",
                )
            cells.append(f"{string(field.name)}, {_as(field.type, texts[key])}")
        return f"CASE WHEN kind = {kind} THEN named_struct({', '.join(cells)}) END"

    def _below(self, salt: str, bound: int | str) -> str:
        return random_below(self._seed, salt, str(bound))

    def _bits(self, start: int, count: int) -> str:
        """`count` of the row's 64 random bits, as a number; each range serves one field."""
        return f"(shiftrightunsigned(bits, {start}) & {(1 << count) - 1})"

    def _one_of(self, salt: str, values: tuple[str, ...]) -> str:
        return f"element_at(array({', '.join(map(string, values))}), CAST({self._below(salt, len(values))} AS INT) + 1)"

    def _extra(self, salt: str, average: int) -> str:
        length = f"CAST({average // 2} + {self._below(salt + 'l', average)} AS INT)"
        return f"rpad('', {length}, hex({random_bits(self._seed, salt)}))"

    def _recent(self, salt: str, last: str, window: int) -> str:
        """One of the last `window` ids."""
        return f"({last} - {self._below(salt, f'(least({last}, {window}) + 1)')})"

    def _person(self) -> dict[str, str]:
        first = self._one_of("first", _FIRST_NAMES)
        last = self._one_of("last", _LAST_NAMES)
        return {
            "id": "(1000 + last_person)",
            "name": f"concat({first}, ' ', {last})",
            "email": f"concat(lower({last}), '@', lower(hex({self._below('mail', 2**24)})), '.example')",
            "card": " || ' ' || ".join(f"lpad({self._below(f'card{i}', 10000)}, 4, '0')" for i in range(4)),
            "city": self._one_of("city", _CITIES),
            "state": self._one_of("state", _STATES),
            "ts": "millis",
            "extra": self._extra("pextra", 100),
        }

    def _auction(self) -> dict[str, str]:
        price = f"CAST(round(pow(10, {random_unit(self._seed, 'start')} * 6) * 100) AS BIGINT)"
        hot = "(last_person DIV 100 * 100)"
        open_for = self._below("expires", 2 * 100 * 1000 * self._round // self._rate + 1)
        seller = self._recent("seller", "last_person", 1000)
        return {
            "id": "(1000 + last_auction)",
            "item": self._one_of("item", _ITEMS),
            "descr": f"concat('lot ', lower(hex({random_bits(self._seed, 'descr')})))",
            "start_price": price,
            "reserve": f"({price} + CAST(round(pow(10, {random_unit(self._seed, 'reserve')} * 6) * 100) AS BIGINT))",
            "ts": "millis",
            "expires": f"(millis + 1 + {open_for})",
            "seller": f"(1000 + CASE WHEN {self._below('hotseller', 4)} > 0 THEN {hot} ELSE {seller} END)",
            "category": f"(10 + {self._below('category', 5)})",
            "extra": self._extra("aextra", 200),
        }

    def _bid(self) -> dict[str, str]:
        auction = self._recent("auction", "last_auction", 100)
        bidder = self._recent("bidder", "last_person", 1000)
        one_in_two, one_in_four, known = (f"{self._bits(*each)} = 0" for each in ((0, 1), (1, 2), (3, 1)))
        famous = f"element_at(array({', '.join(map(string, _CHANNELS))}), CAST({self._bits(4, 2)} AS INT) + 1)"
        number = f"{self._bits(36, 20)} % 10000"
        page = f"'https://www.nexmark.example/', hex({self._bits(6, 30)}), '/item.htm?query=1'"
        often = "least(last_person DIV 100 * 100 + 1, last_person)"
        return {
            "auction": f"(1000 + CASE WHEN {one_in_two} THEN {auction} ELSE last_auction DIV 100 * 100 END)",
            "bidder": f"(1000 + CASE WHEN {one_in_four} THEN {bidder} ELSE {often} END)",
            "price": f"CAST(round(pow(10, {random_unit(self._seed, 'price')} * 6) * 100) AS BIGINT)",
            "channel": f"CASE WHEN {known} THEN {famous} ELSE concat('channel-', {number}) END",
            "url": f"CASE WHEN {known} THEN concat({page}) ELSE concat({page}, '&channel_id=', {number}) END",
            "ts": "millis",
            "extra": self._extra("bextra", 50),
        }


def _as(t: LogicalType, text: str) -> str:
    """A value as the declared type; times are epoch milliseconds until here."""
    from execnodes.lowering.spark_sql import spark_type

    if t.root in (Root.TIMESTAMP, Root.TIMESTAMP_LTZ):
        return f"CAST(timestamp_millis({text}) AS {spark_type(t)})"
    return f"CAST({text} AS {spark_type(t)})"
