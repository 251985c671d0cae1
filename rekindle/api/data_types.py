"""`DataTypes`: SQL types by PyFlink's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from execnodes.core import types
from execnodes.core.errors import SqlError
from execnodes.core.types import Field, LogicalType, parse_type


def _type(text: str, nullable: bool) -> LogicalType:
    try:
        return parse_type(text).with_nullable(nullable)
    except ValueError as error:
        raise SqlError(
            str(error), hint="Give lengths and precisions that SQL has, e.g. DataTypes.DECIMAL(10, 2)."
        ) from None


_MONTHS = {"YEAR", "MONTH"}


@dataclass(frozen=True)
class Resolution:
    """A unit of an INTERVAL, and its digits."""

    unit: str
    precision: int | None = None


class DataTypes:
    """Types of columns and of `cast`; ``.not_null()`` of one takes no NULL."""

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> LogicalType:  # noqa: N802  # as in PyFlink, like those below
        """Truth values."""
        return types.BOOLEAN.with_nullable(nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Whole numbers of 8 bits."""
        return types.TINYINT.with_nullable(nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Whole numbers of 16 bits."""
        return types.SMALLINT.with_nullable(nullable)

    @staticmethod
    def INT(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Whole numbers of 32 bits."""
        return types.INT.with_nullable(nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Whole numbers of 64 bits."""
        return types.BIGINT.with_nullable(nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Floating point numbers of 32 bits."""
        return types.FLOAT.with_nullable(nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Floating point numbers of 64 bits."""
        return types.DOUBLE.with_nullable(nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Exact numbers."""
        return _type(f"DECIMAL({precision}, {scale})", nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Texts."""
        return types.STRING.with_nullable(nullable)

    @staticmethod
    def CHAR(length: int = 1, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Texts of a length."""
        return _type(f"CHAR({length})", nullable)

    @staticmethod
    def VARCHAR(length: int = types.MAX_LENGTH, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Texts up to a length; without one they are STRING."""
        return _type(f"VARCHAR({length})", nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Bytes."""
        return types.BYTES.with_nullable(nullable)

    @staticmethod
    def BINARY(length: int = 1, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Bytes of a length."""
        return _type(f"BINARY({length})", nullable)

    @staticmethod
    def VARBINARY(length: int = types.MAX_LENGTH, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Bytes up to a length; without one they are BYTES."""
        return _type(f"VARBINARY({length})", nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> LogicalType:  # noqa: N802
        """Days."""
        return types.DATE.with_nullable(nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Times of day."""
        return _type(f"TIME({precision})", nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Local dates and times."""
        return _type(f"TIMESTAMP({precision})", nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Instants."""
        return _type(f"TIMESTAMP_LTZ({precision})", nullable)

    @staticmethod
    def TIMESTAMP_WITH_LOCAL_TIME_ZONE(precision: int = 6, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Instants."""
        return DataTypes.TIMESTAMP_LTZ(precision, nullable)

    @staticmethod
    def YEAR(precision: int = 2) -> Resolution:  # noqa: N802
        """Years, in an INTERVAL."""
        return Resolution("YEAR", precision)

    @staticmethod
    def MONTH() -> Resolution:  # noqa: N802
        """Months, in an INTERVAL."""
        return Resolution("MONTH")

    @staticmethod
    def DAY(precision: int = 2) -> Resolution:  # noqa: N802
        """Days, in an INTERVAL."""
        return Resolution("DAY", precision)

    @staticmethod
    def HOUR() -> Resolution:  # noqa: N802
        """Hours, in an INTERVAL."""
        return Resolution("HOUR")

    @staticmethod
    def MINUTE() -> Resolution:  # noqa: N802
        """Minutes, in an INTERVAL."""
        return Resolution("MINUTE")

    @staticmethod
    def SECOND(precision: int = 6) -> Resolution:  # noqa: N802
        """Seconds, in an INTERVAL."""
        return Resolution("SECOND", precision)

    @staticmethod
    def INTERVAL(  # noqa: N802
        upper_resolution: Resolution, lower_resolution: Resolution | None = None
    ) -> LogicalType:
        """Lengths of time: ``INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3))``; of years and months, or of others."""
        units = {each.unit for each in (upper_resolution, lower_resolution) if each is not None}
        if len(units & _MONTHS) not in (0, len(units)):
            raise SqlError(
                "an INTERVAL is one of years and months, or of days and smaller units",
                hint="Write DataTypes.INTERVAL(DataTypes.DAY(), DataTypes.SECOND(3)).",
            )
        return types.INTERVAL_YEAR_MONTH if units <= _MONTHS else types.INTERVAL_DAY_TIME

    @staticmethod
    def ARRAY(element_type: LogicalType, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Arrays."""
        return types.array(element_type).with_nullable(nullable)

    @staticmethod
    def MULTISET(element_type: LogicalType, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Elements with their counts."""
        return types.multiset(element_type).with_nullable(nullable)

    @staticmethod
    def MAP(key_type: LogicalType, value_type: LogicalType, nullable: bool = True) -> LogicalType:  # noqa: N802
        """Keys with values."""
        return types.map_of(key_type, value_type).with_nullable(nullable)

    @staticmethod
    def LIST_VIEW(element_type: LogicalType) -> LogicalType:  # noqa: N802
        """An ARRAY that is a `ListView` in an accumulator."""
        return DataTypes.ARRAY(element_type)

    @staticmethod
    def MAP_VIEW(key_type: LogicalType, value_type: LogicalType) -> LogicalType:  # noqa: N802
        """A MAP that is a `MapView` in an accumulator."""
        return DataTypes.MAP(key_type, value_type)

    @staticmethod
    def FIELD(name: str, data_type: LogicalType) -> Field:  # noqa: N802
        """A field of a ROW."""
        return Field(name, data_type)

    @staticmethod
    def ROW(row_fields: Sequence[Field] = (), nullable: bool = True) -> LogicalType:  # noqa: N802
        """Rows of fields."""
        return types.row(*row_fields).with_nullable(nullable)
