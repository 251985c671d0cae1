"""Many keys of a Spark map state at once: requests are written together, then the answers are read (pipelining).

Spark's Python client waits for the answer of every call, 110–180 µs each; pipelined, a call takes 18–42 µs. It leans on
private parts of PySpark, so everything that does is in this module: `client_for` looks for them once and gives the
public API's client where they have changed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import Any

from execnodes.state.pages.map_client import Address, MapClient

_log = logging.getLogger("rekindle.state")
ENDED = "Java's side has ended the connection without a word"
"""What is told of an error of Java's own, such as Hadoop makes of a disk that is full."""
_CHUNK = 128
"""Requests in flight: small enough that neither side blocks on a full socket buffer."""


class PublicMapClient:
    """One call a key, through the documented API."""

    def __init__(self, state: Any) -> None:
        """`state`: a `MapState` of PySpark's handle."""
        self._state = state

    def get(self, keys: Sequence[Address]) -> list[bytes | None]:
        """See `MapClient`."""
        found = (self._state.getValue(key) for key in keys)
        return [None if value is None else bytes(value[0]) for value in found]

    def put(self, items: Sequence[tuple[Address, bytes]]) -> None:
        """See `MapClient`."""
        for key, value in items:
            self._state.updateValue(key, (value,))

    def remove(self, keys: Sequence[Address]) -> None:
        """See `MapClient`."""
        for key in keys:
            self._state.removeKey(key)


class PipelinedMapClient:
    """Chunks of calls over the same socket."""

    def __init__(self, state: Any) -> None:
        """`state`: a `MapState` of PySpark's handle."""
        import pyspark.sql.streaming.proto.StateMessage_pb2 as messages
        from pyspark.serializers import write_int

        self._messages = messages
        self._write_int: Callable[[int, Any], None] = write_int
        self._name = state._stateName
        inner = state._mapStateClient
        self._client = inner._stateful_processor_api_client
        self._key_schema = inner.user_key_schema
        self._value_schema = inner.value_schema
        self._socket = self._client.sockfile

    def get(self, keys: Sequence[Address]) -> list[bytes | None]:
        """See `MapClient`."""
        calls = (self._call(getValue=self._messages.GetValue(userKey=self._key(key))) for key in keys)
        answers = self._send(calls)
        return [bytes(self._client._deserialize_from_bytes(each)[0]) if each else None for each in answers]

    def put(self, items: Sequence[tuple[Address, bytes]]) -> None:
        """See `MapClient`."""
        serialize = self._client._serialize_to_bytes
        for _ in self._send(
            self._call(
                updateValue=self._messages.UpdateValue(
                    userKey=self._key(key), value=serialize(self._value_schema, (value,))
                )
            )
            for key, value in items
        ):
            pass

    def remove(self, keys: Sequence[Address]) -> None:
        """See `MapClient`."""
        for _ in self._send(self._call(removeKey=self._messages.RemoveKey(userKey=self._key(key))) for key in keys):
            pass

    def _key(self, key: Address) -> bytes:
        encoded: bytes = self._client._serialize_to_bytes(self._key_schema, key)
        return encoded

    def _call(self, **request: Any) -> bytes:
        messages = self._messages
        call = messages.MapStateCall(stateName=self._name, **request)
        variable = messages.StateVariableRequest(mapStateCall=call)
        encoded: bytes = messages.StateRequest(stateVariableRequest=variable).SerializeToString()
        return encoded

    def _send(self, requests: Iterator[bytes]) -> Iterator[bytes]:
        """Answers in the order of the requests."""
        answers: list[bytes] = []
        while chunk := list(islice(requests, _CHUNK)):
            answers += self._exchange(chunk)
        return iter(answers)

    def _exchange(self, requests: Sequence[bytes]) -> list[bytes]:
        try:
            for request in requests:
                self._write_int(0, self._socket)
                self._write_int(len(request), self._socket)
                self._socket.write(request)
            self._socket.flush()
        except OSError as error:
            # Java reads no more after a failure, which is what its last answer tells.
            with suppress(OSError):
                self._receive(len(requests))
            raise self._ended() from error
        return self._receive(len(requests))

    def _receive(self, count: int) -> list[bytes]:
        answers = []
        for _ in range(count):
            try:
                status, error, value = self._client._receive_proto_message()
            except (EOFError, ConnectionError) as broken:
                raise self._ended() from broken
            if status != 0:
                raise RuntimeError(f"state {self._name!r}: {error}")
            answers.append(value)
        return answers

    def _ended(self) -> RuntimeError:
        return RuntimeError(f"state {self._name!r}: {ENDED}")


def client_for(state: Any) -> MapClient:
    """The pipelined client where PySpark's internals are as it knows them, else the public one."""
    inner = getattr(state, "_mapStateClient", None)
    client = getattr(inner, "_stateful_processor_api_client", None)
    wanted = ("sockfile", "_serialize_to_bytes", "_deserialize_from_bytes", "_receive_proto_message")
    known = all(hasattr(client, each) for each in wanted) and hasattr(inner, "user_key_schema")
    if known and hasattr(state, "_stateName"):
        return PipelinedMapClient(state)
    _tell_of_slowness()
    return PublicMapClient(state)


@cache
def _tell_of_slowness() -> None:
    """Once a process."""
    _log.warning("PySpark's client of state is not one that is known: keys are read and written one by one")
