"""Files of a test, laid out from a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path


def lay(root: Path, files: Mapping[str, object]) -> Path:
    """Write files below `root`: text as it is, anything else as JSON. A name that ends in `/` is a
    directory, a text that begins with `#!` a program."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        path.write_text(text, "utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)
    return root
