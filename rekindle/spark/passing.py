"""Troubles outside a job that may be gone when it starts again, by what Java, Python or a system says of them."""

from __future__ import annotations

import errno
import re

WORKER_DIED = re.compile(r"(?:worker|daemon thread) exited unexpectedly")
"""A worker of tasks, or the one that a stateful operator has beside the driver."""
_PROCESSES = (
    rf"{WORKER_DIED.pattern}|Python worker (?:failed )?to connect back|Python (?:daemon )?failed to launch worker"
    r"|STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE"
    r"|ExecutorLostFailure|Executor heartbeat timed out|FetchFailed"
)
"""Processes that were killed or too slow; Spark gives a Python worker ten seconds to begin."""
_CONNECTIONS = (
    r"IOException: Broken pipe|ClosedChannelException|Connection reset by peer"
    r"|java\.net\.(?:Socket|SocketTimeout|Connect|NoRouteToHost|UnknownHost)Exception"
    r"|java\.util\.concurrent\.TimeoutException|RpcTimeoutException"
    r"|org\.apache\.kafka\.common\.errors\.(?:Timeout|Network|Disconnect|NotLeaderOrFollower|LeaderNotAvailable)Exception"
)
_DATABASES = (
    r"java\.sql\.SQL(?:Transient|Recoverable|Timeout|TransactionRollback)\w*Exception|CommunicationsException"
    r"|\bSQLITE_BUSY\b|\bdeadlock detected\b|\bLock wait timeout exceeded\b|\bcould not serialize access\b"
)
_FILES = (
    r"(?:IOException|FileSystemException|FileNotFoundException|OSError)\b[^\n]*"
    r"(?:Stale file handle|[Rr]esource busy|[Tt]emporarily unavailable|Too many open files|timed out"
    r"|Input/output error)"
)
_PASSING = re.compile("|".join((_PROCESSES, _CONNECTIONS, _DATABASES, _FILES)))
_PASSING_ERRORS = frozenset(
    {
        errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ESTALE, errno.ETXTBSY,
        errno.ETIMEDOUT, errno.ECONNRESET, errno.ECONNABORTED, errno.ECONNREFUSED, errno.EHOSTDOWN,
        errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH, errno.ENETRESET,
    }
)  # fmt: skip
"""Of files: a lock, a file system over a network, too many open files. Not a full disk, nor missing rights or files."""


def may_pass(text: str) -> bool:
    """Whether a failure's text names a trouble that may be gone. What is not known to pass is taken to come again."""
    return _PASSING.search(text) is not None


def is_passing(error: OSError) -> bool:
    """Whether a failure of the system may be gone."""
    return error.errno in _PASSING_ERRORS
