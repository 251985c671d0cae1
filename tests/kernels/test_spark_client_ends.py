"""Many calls at once to Spark's server of state: what made it stop is told, not that the connection broke."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedRWPair
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.streaming.proto import StateMessage_pb2 as messages

from execnodes.state.pages.spark_client import ENDED, PipelinedMapClient

ADDRESS = (1, 2, 3)


def framed(file: BufferedRWPair) -> bytes:
    """A message behind its length; EOFError at the end, as PySpark's."""
    head = file.read(4)
    if len(head) < 4:
        raise EOFError
    return file.read(struct.unpack("!i", head)[0])


@dataclass
class ApiClient:
    """What the client takes of PySpark's, over a socket."""

    sockfile: BufferedRWPair

    def _serialize_to_bytes(self, schema: object, data: object) -> bytes:
        return b"x" * 1000

    def _deserialize_from_bytes(self, data: bytes) -> tuple[bytes]:
        return (data,)

    def _receive_proto_message(self) -> tuple[int, str, bytes]:
        answer = messages.StateResponse()
        answer.ParseFromString(framed(self.sockfile))
        return answer.statusCode, answer.errorMessage, answer.value


def map_state(api: ApiClient) -> Any:
    """As PySpark's map state."""
    inner = SimpleNamespace(_stateful_processor_api_client=api, user_key_schema=None, value_schema=None)
    return SimpleNamespace(_mapStateClient=inner, _stateName="sums")


def serve(end: socket.socket, good: int, said: str) -> None:
    """Answer some calls; then say what is wrong, if anything, and read no more."""
    with end, end.makefile("rwb") as file:
        for number in range(good + 1):
            file.read(4)
            framed(file)
            if number == good and not said:
                return
            failed = number == good
            answer = messages.StateResponse(statusCode=int(failed), errorMessage=said if failed else "", value=b"v")
            text = answer.SerializeToString()
            file.write(struct.pack("!i", len(text)) + text)
            file.flush()


def put(count: int, good: int, said: str) -> None:
    ours, theirs = socket.socketpair()
    server = threading.Thread(target=serve, args=(theirs, good, said))
    server.start()
    file = ours.makefile("rwb")
    try:
        PipelinedMapClient(map_state(ApiClient(file))).put([(ADDRESS, b"data")] * count)
    finally:
        server.join(10)
        ours.close()
        with suppress(OSError):
            # What could not be written is still in it.
            file.close()


@pytest.mark.parametrize("count", [10, 100, 1000])
@pytest.mark.parametrize("good", [0, 5])
def test_the_last_answer_is_told(count: int, good: int) -> None:
    with pytest.raises(RuntimeError, match=r"^state 'sums': No space left on device$"):
        put(count, good, "No space left on device")


@pytest.mark.parametrize("count", [10, 1000])
def test_a_connection_that_ends_without_an_answer(count: int) -> None:
    with pytest.raises(RuntimeError, match=f"^state 'sums': {ENDED}$"):
        put(count, 3, "")
