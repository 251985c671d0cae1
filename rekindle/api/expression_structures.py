"""Methods of expressions that are functions of times, intervals and collections, by PyFlink's names."""

from __future__ import annotations

from typing import Self

from execnodes.core.errors import SqlError
from planner.catalog.catalogs import quoted
from rekindle.api.literals import second_interval, word_sql
from rekindle.api.operand import Operand, value


class TimeMethods(Operand):
    """Methods of times and intervals, and ``floor`` and ``ceil``, which numbers have, too. Units are words: DAY."""

    @property
    def to_date(self) -> Self:
        """The text as a DATE."""
        return self.joined("CAST(", self, " AS DATE)")

    @property
    def to_time(self) -> Self:
        """The text as a TIME."""
        return self.joined("CAST(", self, " AS TIME)")

    @property
    def to_timestamp(self) -> Self:
        """The text as a TIMESTAMP(3)."""
        return self.joined("CAST(", self, " AS TIMESTAMP(3))")

    def extract(self, time_interval_unit: str) -> Self:
        """A part of a time, e.g. ``"HOUR"``."""
        return self.joined(f"EXTRACT({word_sql(time_interval_unit)} FROM ", self, ")")

    def floor(self, time_interval_unit: str | None = None) -> Self:
        """The number, or the time in whole units, below."""
        return self._cut("FLOOR", time_interval_unit)

    def ceil(self, time_interval_unit: str | None = None) -> Self:
        """The number, or the time in whole units, above."""
        return self._cut("CEIL", time_interval_unit)

    def _cut(self, function: str, unit: str | None) -> Self:
        return self.joined(f"{function}(", self, f" TO {word_sql(unit)})" if unit else ")")

    @property
    def year(self) -> Self:
        """An interval of so many years."""
        return self._interval("YEAR")

    @property
    def years(self) -> Self:
        """An interval of so many years."""
        return self._interval("YEAR")

    @property
    def quarter(self) -> Self:
        """An interval of so many quarters."""
        return self._interval("MONTH", 3)

    @property
    def quarters(self) -> Self:
        """An interval of so many quarters."""
        return self._interval("MONTH", 3)

    @property
    def month(self) -> Self:
        """An interval of so many months."""
        return self._interval("MONTH")

    @property
    def months(self) -> Self:
        """An interval of so many months."""
        return self._interval("MONTH")

    @property
    def week(self) -> Self:
        """An interval of so many weeks."""
        return self._interval("DAY", 7)

    @property
    def weeks(self) -> Self:
        """An interval of so many weeks."""
        return self._interval("DAY", 7)

    @property
    def day(self) -> Self:
        """An interval of so many days."""
        return self._interval("DAY")

    @property
    def days(self) -> Self:
        """An interval of so many days."""
        return self._interval("DAY")

    @property
    def hour(self) -> Self:
        """An interval of so many hours."""
        return self._interval("HOUR")

    @property
    def hours(self) -> Self:
        """An interval of so many hours."""
        return self._interval("HOUR")

    @property
    def minute(self) -> Self:
        """An interval of so many minutes."""
        return self._interval("MINUTE")

    @property
    def minutes(self) -> Self:
        """An interval of so many minutes."""
        return self._interval("MINUTE")

    @property
    def second(self) -> Self:
        """An interval of so many seconds."""
        return self._interval("SECOND")

    @property
    def seconds(self) -> Self:
        """An interval of so many seconds."""
        return self._interval("SECOND")

    @property
    def milli(self) -> Self:
        """An interval of so many milliseconds."""
        number = self._number()
        if number is None:
            return self.joined("(", self, " * INTERVAL '0.001' SECOND)")
        sign = "-" if number < 0 else ""
        return self.joined(second_interval(abs(number), sign))

    @property
    def millis(self) -> Self:
        """An interval of so many milliseconds."""
        return self.milli

    def _interval(self, unit: str, factor: int = 1) -> Self:
        number = self._number()
        if number is None:
            return self.joined("(", self, f" * INTERVAL '{factor}' {unit})")
        length = len(str(abs(number * factor)))
        return self.joined(f"INTERVAL '{number * factor}' {unit}{f'({length})' if length > 2 else ''}")

    def _number(self) -> int | None:
        """The whole number that this is, if it is a constant."""
        text = self.sql.removeprefix("(").removesuffix(")")
        return int(text) if text.removeprefix("-").isdecimal() else None


class CollectionMethods(Operand):
    """Methods of arrays, maps and rows."""

    def at(self, index: object) -> Self:
        """Member of an array by its place, from 1 on, or of a map by its key."""
        return self.joined(self, "[", value(index), "]")

    @property
    def cardinality(self) -> Self:
        """How many elements or entries a collection has."""
        return self._call("CARDINALITY")

    @property
    def element(self) -> Self:
        """The only member of an array."""
        return self._call("ELEMENT")

    def get(self, name: str) -> Self:
        """A field of a row by its name."""
        if not isinstance(name, str):
            raise SqlError(f"{name!r} is no name of a field", hint="Fields are had by name.")
        return self.joined(self, f".{quoted((name,))}")

    def array_append(self, addition: object) -> Self:
        """The array with an element behind."""
        return self._call("ARRAY_APPEND", addition)

    def array_contains(self, needle: object) -> Self:
        """Whether an element occurs in the array."""
        return self._call("ARRAY_CONTAINS", needle)

    def array_concat(self, *arrays: object) -> Self:
        """The elements of this array and of others, in order."""
        return self._call("ARRAY_CONCAT", *arrays)

    @property
    def array_distinct(self) -> Self:
        """The array with each element once, at its first place."""
        return self._call("ARRAY_DISTINCT")

    def array_join(self, delimiter: object, null_replacement: object = None) -> Self:
        """The elements as one text, with a delimiter between them."""
        return self._call("ARRAY_JOIN", delimiter, null_replacement)

    @property
    def array_max(self) -> Self:
        """The largest element."""
        return self._call("ARRAY_MAX")

    @property
    def array_min(self) -> Self:
        """The smallest element."""
        return self._call("ARRAY_MIN")

    def array_position(self, needle: object) -> Self:
        """Where an element occurs first, from 1; 0 if it does not."""
        return self._call("ARRAY_POSITION", needle)

    def array_prepend(self, addition: object) -> Self:
        """The array with an element in front."""
        return self._call("ARRAY_PREPEND", addition)

    def array_remove(self, needle: object) -> Self:
        """The array without an element, wherever it occurs."""
        return self._call("ARRAY_REMOVE", needle)

    @property
    def array_reverse(self) -> Self:
        """The elements from the last to the first."""
        return self._call("ARRAY_REVERSE")

    def array_slice(self, start_offset: object, end_offset: object = None) -> Self:
        """The elements from a place to another, from 1; both are in it."""
        return self._call("ARRAY_SLICE", start_offset, end_offset)

    def array_union(self, array: object) -> Self:
        """The elements of both arrays, each once."""
        return self._call("ARRAY_UNION", array)

    def array_except(self, array: object) -> Self:
        """The elements that another array has not, each once."""
        return self._call("ARRAY_EXCEPT", array)

    def array_intersect(self, array: object) -> Self:
        """The elements that both arrays have, each once."""
        return self._call("ARRAY_INTERSECT", array)

    def array_sort(self, ascending_order: object = None, null_first: object = None) -> Self:
        """The elements in an order, NULLs first in an ascending one unless something else is said."""
        return self._call("ARRAY_SORT", ascending_order, null_first)

    def map_union(self, *maps: object) -> Self:
        """The entries of this map and of others; of a key in several the last value."""
        return self._call("MAP_UNION", *maps)

    @property
    def flatten(self) -> Self:
        """The fields of a row, each as a column of its own, in `select`."""
        return self.joined(self, ".*")

    @property
    def map_keys(self) -> Self:
        """The keys, as an array."""
        return self._call("MAP_KEYS")

    @property
    def map_values(self) -> Self:
        """The values, as an array."""
        return self._call("MAP_VALUES")

    @property
    def map_entries(self) -> Self:
        """The entries, as an array of rows of key and value."""
        return self._call("MAP_ENTRIES")
