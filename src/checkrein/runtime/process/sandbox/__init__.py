"""Confining a command by the kernel: bubblewrap where it works, else Landlock, else not at all.

`detect()` says what this machine can enforce, and `wrap()` prepares a command. Where nothing can be enforced,
`wrap()` refuses: whether to run without a sandbox is for the caller to decide, not for this package.
"""

from __future__ import annotations

from checkrein.runtime.process.sandbox.detection import Prepared, SandboxStatus, detect, wrap
from checkrein.runtime.process.sandbox.policy import (
    SandboxPolicy,
    SandboxSettings,
    policy_for,
    sandbox_settings,
)

__all__ = [
    "Prepared",
    "SandboxPolicy",
    "SandboxSettings",
    "SandboxStatus",
    "detect",
    "policy_for",
    "sandbox_settings",
    "wrap",
]
