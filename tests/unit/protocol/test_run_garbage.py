from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from checkrein.protocol.run import _collect_garbage
from checkrein.runtime.session.events import Notice, RequestSent

gc.disable()
_collect_garbage(Notice("info", "not yet"))
assert not gc.isenabled()
_collect_garbage(RequestSent(1, "m"))
assert gc.isenabled()
frozen = gc.get_freeze_count()
assert frozen > 1000
made = [[] for _ in range(100)]
_collect_garbage(RequestSent(2, "m"))
assert gc.get_freeze_count() <= frozen
"""


def test_garbage_is_collected_from_the_first_request_on() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
