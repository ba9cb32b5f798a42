"""What is special about the command of one call: whether it may only read, and what its approval names."""

from __future__ import annotations

import os
from typing import Any

from checkrein.policy.named_files import named_writes
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.process.binder import Terms


def terms(gate: Gate, input: dict[str, Any], cwd: str) -> Terms:
    """For an approved Bash call. A protected file in its text was part of the approval: no rule alone covers
    such a file."""
    only_reads = gate.mode == "plan" or gate.only_reads("Bash", input, cwd)

    def may_change(path: str) -> bool:
        named = named_writes(str(input.get("command")), gate.context(cwd))
        return path in {
            os.path.join(os.path.realpath(os.path.dirname(one)), os.path.basename(one)) for one in named
        }

    return Terms(only_reads=only_reads, may_change=may_change)
