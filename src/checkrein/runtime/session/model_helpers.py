"""Commands that give credentials of models: those of the settings, after trust, and the clouds' programs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from checkrein.base.errors import AuthError, CheckreinError
from checkrein.base.harmless import one_line
from checkrein.base.origin import BOUND_SCOPES, Origin
from checkrein.base.secrets import redact_command
from checkrein.facts.models_providers import CREDENTIALS
from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.runtime.process.command import Command
from checkrein.runtime.process.environment import without
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.trust import Standing

HELPERS = ("apiKeyHelper", "awsCredentialExport", "awsAuthRefresh", "gcpAuthRefresh")
_SECONDS = 30.0
_SIGN_IN_SECONDS = 180.0
_SAID = 200
_OWN = Origin("<the environment>", "user")


class ModelHelpers:
    """Runs helpers in the order of the session. `trust` has judged the project: a helper that an untrusted
    project names is not among its settings, and the spawner refuses it once more."""

    def __init__(self, trust: Standing, env: Mapping[str, str]) -> None:
        self._trust, self._env = trust, env
        self.waiting: str | None = None
        """The command that a model waits for."""

    @property
    def names(self) -> frozenset[str]:
        """The settings that name a command."""
        found = (name for name in HELPERS if isinstance(self._project.setting(name), str))
        return frozenset(name for name in found if str(self._project.setting(name)).strip())

    @property
    def _project(self) -> Project:
        return self._trust.project

    def run(self, command: str | tuple[str, ...]) -> bytes:
        """What the command of a setting, or a program, prints. Raises AuthError."""
        if isinstance(command, str):
            return self._run(str(self._project.setting(command)), self._origin(command), command)
        if shutil.which(command[0], path=self._env.get("PATH")) is None:
            raise AuthError(f"The program {command[0]} is not installed.", kind="credentials_missing")
        return self._run(command, _OWN, command[0])

    def _origin(self, name: str) -> Origin:
        candidates = self._project.settings[name].candidates
        return next(one.item.origin for one in candidates if one.lost is None)

    def _run(self, argv: str | tuple[str, ...], origin: Origin, name: str) -> bytes:
        env = without(self._env, CREDENTIALS) if origin.scope in BOUND_SCOPES else dict(self._env)
        command = Command(
            argv=argv,
            cwd=self._project.place.cwd,
            origin=origin,
            purpose=f"a credential of the model ({name})",
            env=env,
            timeout=_SIGN_IN_SECONDS if name.endswith("Refresh") else _SECONDS,
            limit=1 << 16,
        )
        self.waiting = name if origin is _OWN else f"{name} ({origin.beside(command.cwd)})"
        with Spawner(lambda one: one is _OWN or self._trust.trusts(one), withheld=frozenset()) as spawner:
            try:
                ended = spawner.run(command, Cancel())
            except (CheckreinError, OSError) as error:
                raise AuthError(f"{name} could not be run: {error}", kind="credentials_missing") from None
            finally:
                self.waiting = None
        if ended.timed_out:
            raise AuthError(f"{name} took longer than {command.timeout:g} s.", kind="credentials_missing")
        if ended.exit_code != 0:
            first = ended.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            said = one_line(redact_command(first)[:_SAID]) or "it says nothing"
            raise AuthError(
                f"{name} ended with status {ended.exit_code}: {said}",
                kind="credentials_missing",
                hint="Run it yourself, and look at what it prints.",
            )
        return ended.stdout
