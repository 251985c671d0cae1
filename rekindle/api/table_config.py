"""`TableConfig`: the options of a session, by PyFlink's names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Self

from execnodes.core.options import Configuration


class TableConfig:
    """The options of a session."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def get(self, key: str, default_value: str | None = None) -> str | None:
        """What is set, else the default that is given."""
        found: str | None = self._configuration.get(key, default_value)
        return found

    def set(self, key: str, value: str) -> Self:
        """Set an option; OptionError for one that there is not, or a bad value."""
        self._configuration.put(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Zone in which instants are shown."""
        return str(self._configuration.get_option("table.local-time-zone"))

    def set_local_timezone(self, timezone_id: str) -> Self:
        """Show instants in a zone."""
        return self.set("table.local-time-zone", timezone_id)

    def set_idle_state_retention(self, duration: timedelta) -> Self:
        """Keep state of keys that have no rows for so long, as `table.exec.state.ttl`."""
        return self.set("table.exec.state.ttl", f"{duration // timedelta(milliseconds=1)} ms")

    def get_configuration(self) -> TableConfig:
        """The same options, where PyFlink has another object."""
        return self

    def add_configuration(self, configuration: Mapping[str, str]) -> Self:
        """Set several options."""
        for key, value in configuration.items():
            self.set(key, value)
        return self

    def to_map(self) -> dict[str, str]:
        """The options that are set."""
        return {str(key): str(value) for key, value in self._configuration.items()}

    def get_string(self, key: str, default_value: str) -> str:
        """What is set, else the default that is given."""
        found = self.get(key)
        return default_value if found is None else found

    def set_string(self, key: str, value: str) -> Self:
        """As `set`."""
        return self.set(key, value)

    def set_integer(self, key: str, value: int) -> Self:
        """Set an option that is a whole number."""
        return self.set(key, str(value))

    def set_float(self, key: str, value: float) -> Self:
        """Set an option that is a number."""
        return self.set(key, str(value))

    def set_boolean(self, key: str, value: bool) -> Self:
        """Set an option that is true or false."""
        return self.set(key, "true" if value else "false")
