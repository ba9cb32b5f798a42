"""Compiles the guard's library into the package, where there is a C compiler for Linux.

Without one the package is pure Python, and does the same in a little more time. An editable install has the
library beside its source.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GUARD = Path("checkrein/runtime/process/guard")
SOURCES = "quick.c", "spare.c"
LIBRARY = GUARD / "libquick.so"
MACHINES = ("x86_64", "aarch64")
OPTIONS = (
    *("-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared", "-fvisibility=default"),
    *("-fstack-protector-strong", "-Wl,-z,relro,-z,now"),
)


class CompiledGuard(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root, "src")
        if version == "editable":
            self._say(compile_library(source / GUARD, source / LIBRARY))
            return
        self._made = Path(tempfile.mkdtemp(prefix="checkrein-build-"), LIBRARY.name)
        why = compile_library(source / GUARD, self._made)
        self._say(why)
        if not why:
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
            build_data["force_include"][str(self._made)] = str(LIBRARY)

    def _say(self, why: str) -> None:
        if why:
            self.app.display_warning(f"the guard runs in Python alone: {why}")

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._made.parent, ignore_errors=True)


def compile_library(folder: Path, library: Path, *options: str) -> str:
    """From the sources in a folder. Returns why there is none: no compiler, or a machine that the guard does
    not know."""
    library.unlink(missing_ok=True)
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not sys.platform.startswith("linux") or os.uname().machine not in MACHINES:
        return "it knows Linux on x86-64 and arm64"
    if not compiler or shutil.which(compiler[0]) is None:
        return "there is no C compiler"
    sources = [folder / name for name in SOURCES]
    mark = f"-DQUICK_SOURCE={zlib.crc32(b''.join(one.read_bytes() for one in sources))}u"
    part = library.with_suffix(".part")
    argv = [*compiler, *OPTIONS, mark, *options, "-o", str(part), *map(str, sources)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode:
        return f"the compiler failed: {done.stderr.strip()[-500:]}"
    part.replace(library)
    return ""
