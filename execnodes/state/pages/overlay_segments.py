"""The overlay above a subtask's pages, as it is kept: segments, each above those before it."""

from __future__ import annotations

from execnodes.state.operator import StateSpec
from execnodes.state.pages.map_client import OVERLAY, Address, MapClient, fetch
from execnodes.state.pages.overlay import Overlay
from execnodes.state.pages.page_cache import VersionCache, new_version

MAX_SEGMENTS = 6
"""One more, and all become one."""
_OVERLAYS: VersionCache[None, Overlay] = VersionCache()
"""By the newest segment's version: all segments up to it as one."""


class OverlaySegments:
    """Reads, extends and removes the segments of one state of one subtask."""

    def __init__(self, spec: StateSpec, client: MapClient, versions: list[int]) -> None:
        """`versions` of the segments, the oldest first; changed in place."""
        self._spec = spec
        self._client = client
        self._versions = versions

    def read(self) -> Overlay:
        """All segments as one."""
        if not self._versions:
            return Overlay.empty(self._spec)
        overlay, known = self._newest_held()
        absent = [_segment(at) for at in range(known, len(self._versions))]
        for data in fetch(self._client, absent, self._spec.name):
            overlay = Overlay.decode(self._spec, data).above(overlay)
        self._hold(overlay)
        return overlay

    def add(self, newest: Overlay, whole: Overlay) -> None:
        """Put a segment above the others; `whole` is what all of them come to then."""
        if self._versions:
            _OVERLAYS.forget(self._versions[-1])
        if len(self._versions) < MAX_SEGMENTS:
            self._client.put([(_segment(len(self._versions)), newest.encode(self._spec))])
        else:
            self._client.put([(_segment(0), whole.encode(self._spec))])
            self._client.remove([_segment(at) for at in range(1, len(self._versions))])
            self._versions.clear()
        self._versions.append(new_version())
        self._hold(whole)

    def clear(self) -> None:
        """Remove all segments."""
        self._client.remove([_segment(at) for at in range(len(self._versions))])
        self._versions.clear()

    def _newest_held(self) -> tuple[Overlay, int]:
        """What this process knows of the oldest segments, and how many those are."""
        for at in reversed(range(len(self._versions))):
            found = _OVERLAYS.get(self._versions[at], None)
            if found is not None:
                return found, at + 1
        return Overlay.empty(self._spec), 0

    def _hold(self, overlay: Overlay) -> None:
        _OVERLAYS.put(self._versions[-1], None, overlay, overlay.bytes)


def _segment(number: int) -> Address:
    return (*OVERLAY, number)
