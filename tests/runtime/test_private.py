"""What a local session opens to others: nothing but loopback, and folders of its owner."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rekindle.spark.java import output_file

_PROGRAM = """
from rekindle.spark.session import session
spark = session(1, {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})
assert spark.range(3).mapInPandas(lambda frames: frames, "id long").count() == 3
java = spark.sparkContext._gateway.proc.pid
sockets = [line.split() for kind in ("tcp", "tcp6") for line in open(f"/proc/{java}/net/{kind}")][1:]
import os
own = {os.readlink(f"/proc/{pid}/fd/{fd}") for pid in (java, os.getpid()) for fd in os.listdir(f"/proc/{pid}/fd")
       if os.path.lexists(f"/proc/{pid}/fd/{fd}")}
print("LISTEN", *sorted({each[1] for each in sockets if each[3] == "0A" and f"socket:[{each[9]}]" in own}))
print("LOCAL", spark.conf.get("spark.local.dir"), spark.conf.get("spark.authenticate"), spark.sparkContext.master)
import sys
print("PATH", *sys.path)
"""


@pytest.mark.spark
def test_a_local_session_is_for_its_owner(tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("raise SystemExit('the working directory was searched')")
    done = subprocess.run(
        [sys.executable, "-P", "-c", _PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    (listening,) = re.findall(r"^LISTEN(.*)$", done.stdout, re.M)
    addresses = {each.split(":")[0] for each in listening.split()}
    # 127.0.0.1, also as an IPv6 address that stands for it.
    assert addresses <= {"0100007F", "0000000000000000FFFF00000100007F"}, done.stdout
    assert addresses
    folder, authenticated, master = re.findall(r"^LOCAL (\S+) (\S+) (\S+)$", done.stdout, re.M)[0]
    assert (authenticated, master) == ("true", "local[1,4]")
    assert not Path(folder).exists(), "it is gone with its session"


def test_output_has_no_name() -> None:
    with output_file() as output:
        assert isinstance(output.name, int)
