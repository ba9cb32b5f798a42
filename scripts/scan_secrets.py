"""Fail when a file holds something that looks like a secret. Skips lines marked `not-a-secret`."""

from __future__ import annotations

import sys
from pathlib import Path

from checkrein.base.secrets import looks_secret


def main(files: list[str]) -> int:
    found = [
        f"{file}:{number}"
        for file in files
        for number, line in enumerate(Path(file).read_text("utf-8", "replace").splitlines(), 1)
        if looks_secret(line) and "not-a-secret" not in line and "tests/" not in file
    ]
    for place in found:
        sys.stderr.write(f"{place}: looks like a secret\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
