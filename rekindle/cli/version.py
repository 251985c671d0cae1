"""What `rekindle --version` shows."""

from __future__ import annotations

from execnodes.core.version import ENGINE_VERSION, RELEASE


def version_text() -> str:
    """The release, and the engine version that plans hold."""
    return f"rekindle {RELEASE} (engine version {ENGINE_VERSION})"
