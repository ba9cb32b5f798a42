"""What a session keeps to itself: its own credentials, and the key for its masks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from checkrein.facts.models_providers import CREDENTIALS
from checkrein.model.project import Place
from checkrein.runtime.secrets.exposure import Exposure, exposure
from checkrein.runtime.secrets.vault import Vault, fresh_key

_KEY_FILE = "mask.key"
_KEY_BYTES = 32


class Kept(Struct, frozen=True, kw_only=True):
    """`withheld` are the variables that no child gets."""

    vault: Vault
    exposure: Exposure
    withheld: frozenset[str]


def keep(env: Mapping[str, str], settings: Mapping[str, str], place: Place, *, saved: bool) -> Kept:
    """From the environment, the `env` of the user's own settings and the user's own configuration. Files of
    a project have no say here. A session that is not `saved` leaves no key behind."""
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS

    own = checkrein_home(env)
    config = load_config(KEYS, Path(place.root), own, env)
    more, passed = (_upper(config.get(f"secrets.{name}")) for name in ("withhold", "pass"))
    withheld = (CREDENTIALS | more) - passed
    values = [given[name] for given in (env, settings) for name in CREDENTIALS | withheld if given.get(name)]
    key = config.get("model.api_key")
    values += [key] if key else []
    values += _plugin_secrets(env)
    return Kept(
        vault=Vault(_parts(values), _stored_key(str(own)) if saved else fresh_key),
        exposure=exposure(config.get("secrets.reveal"), root=place.cwd, home=place.home),
        withheld=frozenset(withheld),
    )


def _plugin_secrets(env: Mapping[str, str]) -> list[str]:
    """The secret options of installed plugins."""
    from checkrein.base.home import home_path

    if not os.path.lexists(os.path.join(home_path(env), "plugins", "secrets.json")):
        return []
    from checkrein.runtime.plugins.plugin_options import secrets_file

    kept = secrets_file(env).read()[0].plugins
    return [value for options in kept.values() for value in options.values()]


def _upper(names: list[str]) -> set[str]:
    return {name.upper() for name in names}


def _parts(values: list[str]) -> list[str]:
    """The values, and of custom headers (`Name: value` on each line) each value."""
    found = []
    for value in values:
        for line in value.strip().splitlines():
            name, colon, rest = line.partition(": ")
            found.append(rest.strip() if colon and name.replace("-", "").isalnum() else line.strip())
    return found


def _stored_key(home: str) -> Callable[[], bytes]:
    """The user's key, made at its first use. Without a place for it a key for this session only."""

    def key() -> bytes:
        path = os.path.join(home, _KEY_FILE)
        with contextlib.suppress(OSError):
            os.makedirs(home, mode=0o700, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                _write(path, fresh_key())
            with open(path, "rb") as file:
                if len(stored := file.read(_KEY_BYTES)) == _KEY_BYTES:
                    return stored
        return fresh_key()

    return key


def _write(path: str, data: bytes) -> None:
    """Whole or not at all, and never over an existing file."""
    temporary = f"{path}.{os.urandom(6).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.link(temporary, path)
    finally:
        os.unlink(temporary)
