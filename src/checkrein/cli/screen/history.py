"""Earlier prompts, of all sessions, in one file of the Checkrein home. Secrets do not go into it."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator

from prompt_toolkit.history import History

_FILE = "prompts.jsonl"
_READ = 1 << 20
_LONGEST = 20_000
_KEPT = 4 << 20


class PromptHistory(History):
    """Nothing that happens to the file disturbs the session. It is read by `fill`, when there is time."""

    def load_history_strings(self) -> Iterable[str]:
        return ()

    def fill(self) -> None:
        """Take in the file: newest first, each prompt once."""
        self._loaded_strings = list(dict.fromkeys((*self._loaded_strings, *self._read())))

    def store_string(self, string: str) -> None:
        from checkrein.base.home import checkrein_home, private_dir
        from checkrein.base.secrets import redact_text

        said = redact_text(string[:_LONGEST])
        with contextlib.suppress(OSError):
            path = os.path.join(private_dir(checkrein_home()), _FILE)
            line = json.dumps({"prompt": said, "cwd": os.getcwd()}, ensure_ascii=True)
            if os.path.exists(path) and os.path.getsize(path) > _KEPT:
                os.replace(path, f"{path}.old")
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o600)
            try:
                os.write(descriptor, f"{line}\n".encode())
            finally:
                os.close(descriptor)

    def _read(self) -> Iterator[str]:
        from checkrein.base.home import checkrein_home

        try:
            with open(os.path.join(checkrein_home(), _FILE), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _READ))
                lines = file.read(_READ).split(b"\n")
        except OSError:
            return
        for line in reversed(lines):
            with contextlib.suppress(ValueError, KeyError, TypeError):
                said = json.loads(line)["prompt"]
                if isinstance(said, str):
                    yield said
