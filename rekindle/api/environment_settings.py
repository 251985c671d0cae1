"""What a session begins with, in PyFlink's words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_MODE = "execution.runtime-mode"


class EnvironmentSettings(Mapping[str, str]):
    """Options of a new session; to `TableEnvironment.create` it is a mapping like any other."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = dict(options)

    @staticmethod
    def new_instance() -> EnvironmentSettingsBuilder:
        """Put settings together step by step; `build` ends it."""
        return EnvironmentSettingsBuilder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Settings of a session whose pipelines run in streaming mode."""
        return EnvironmentSettingsBuilder().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Settings of a session whose pipelines run in batch mode."""
        return EnvironmentSettingsBuilder().in_batch_mode().build()

    def is_streaming_mode(self) -> bool:
        """Whether pipelines run in streaming mode."""
        return self._options.get(_MODE, "streaming").lower() == "streaming"

    def __getitem__(self, key: str) -> str:
        return self._options[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)


class EnvironmentSettingsBuilder:
    """Collects settings."""

    def __init__(self) -> None:
        self._options: dict[str, str] = {}

    def in_streaming_mode(self) -> EnvironmentSettingsBuilder:
        """Pipelines run in streaming mode."""
        self._options[_MODE] = "streaming"
        return self

    def in_batch_mode(self) -> EnvironmentSettingsBuilder:
        """Pipelines run in batch mode."""
        self._options[_MODE] = "batch"
        return self

    def with_configuration(self, configuration: Mapping[str, str]) -> EnvironmentSettingsBuilder:
        """Options beside the mode; those given later win."""
        self._options.update(configuration)
        return self

    def build(self) -> EnvironmentSettings:
        """The settings."""
        return EnvironmentSettings(self._options)
