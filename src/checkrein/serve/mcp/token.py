"""The token of the server on loopback: configured, or made once and kept where only the user reads it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from checkrein.base.config import load_config
from checkrein.base.errors import CheckreinError
from checkrein.base.home import checkrein_home, private_dir
from checkrein.facts.config import KEYS
from checkrein.model.project import Place

_SHORTEST = 16


def token(place: Place, file: str | None) -> tuple[str, str | None]:
    """The token, and the file that holds it; None when the configuration does."""
    home = checkrein_home(os.environ)
    configured = load_config(KEYS, Path(place.root), home, os.environ).get("serve.token")
    if configured:
        return _checked(configured, "serve.token"), None
    path = Path(file) if file is not None else private_dir(home / "serve") / "mcp.token"
    try:
        return _checked(path.read_text("utf-8").strip(), str(path)), str(path)
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise CheckreinError(f"{path} can't be read: {error}.", kind="token_unreadable") from None
    made = secrets.token_urlsafe(32)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "w") as out:
            out.write(made + "\n")
    except OSError as error:
        raise CheckreinError(f"{path} can't be written: {error}.", kind="token_unreadable") from None
    return made, str(path)


def _checked(text: str, where: str) -> str:
    if len(text) < _SHORTEST or not text.isascii() or any(char.isspace() for char in text):
        hint = f"Use {_SHORTEST} or more visible ASCII characters."
        raise CheckreinError(f"The token in {where} is too weak.", kind="token_unreadable", hint=hint)
    return text
