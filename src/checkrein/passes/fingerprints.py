"""What stays the same about a finding when lines move and numbers change."""

from __future__ import annotations

import os
import re

from checkrein.base.diagnostic import Diagnostic

_NUMBER = re.compile(r"(`[^`]*`)|\d[\d,.]*")


def relative(file: str, root: str) -> str:
    """A file as seen from the project's root, with `/`; files outside keep their path."""
    below = os.path.relpath(file, root) if os.path.isabs(file) else file
    return (file if below.startswith("..") else below).replace(os.sep, "/")


def fingerprint(finding: Diagnostic, root: str) -> str:
    """Code, file and message without the numbers in it: `has 512 lines` and `has 530 lines` are one finding.
    Names in backquotes keep their digits."""
    message = _NUMBER.sub(lambda match: match[1] or "#", finding.message)
    return f"{finding.code} {relative(finding.origin.file, root)} {message}"
