"""Confines a command by the kernel: with bubblewrap where it works, else Landlock, else not at all.

`detect()` says what this machine can enforce, and `wrap()` prepares a command. Where the machine can enforce
nothing, `wrap()` refuses: the caller decides whether to run without a sandbox, not this package.
"""

from __future__ import annotations

from checkrein.runtime.process.sandbox.bounds import Bounds
from checkrein.runtime.process.sandbox.detection import (
    Prepared,
    SandboxStatus,
    detect,
    detect_reading,
    wrap,
)
from checkrein.runtime.process.sandbox.policy import (
    SandboxPolicy,
    SandboxSettings,
    policy_for,
    reading_only,
    sandbox_settings,
)

__all__ = [
    "Bounds",
    "Prepared",
    "SandboxPolicy",
    "SandboxSettings",
    "SandboxStatus",
    "detect",
    "detect_reading",
    "policy_for",
    "reading_only",
    "sandbox_settings",
    "wrap",
]
