"""What the kitchen's tools work with. Every command that they run is a call of Bash: hooks, rules and people
judge it, and the transcript keeps it."""

from __future__ import annotations

import json
import os
import shlex
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.base.ids import short_id
from checkrein.llm.port import ToolUse
from checkrein.runtime.process.command import Completed
from checkrein.runtime.tools.bash import completed
from checkrein.runtime.tools.bash import run as ordinary
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.runtime.tools.port import AnyTool, Aside, ToolContext, ToolFailure, ToolOutput
from checkrein.runtime.worker.backend import NO_RIGHTS, Rights

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.runtime.session.session import Session
    from checkrein.serve.mcp.shift import Shift

_LIMIT = 4 << 20
_SHOWN = 20_000
_NOT_FOUND = 127


class Ran(Struct, frozen=True):
    """How a command ended. `stdout` and `stderr` have no secrets of the project."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.timed_out

    @property
    def last_words(self) -> str:
        said = self.stderr.strip() or self.stdout.strip()
        return said[-2_000:] if said else f"exit status {self.exit_code}"


class Wanted(Struct):
    """A command that a tool waits for. `env` is what it gets besides; `ran` how it ended."""

    timeout: float | None
    env: dict[str, str]
    ran: Ran | None = None


class PlainBash:
    """Bash, which gives the commands of the kitchen's tools back as they ended."""

    def __init__(self) -> None:
        self._inner: AnyTool = next(tool for tool in builtin_tools() if tool.name == "Bash")
        self.name = self._inner.name
        self.eager = self._inner.eager
        self.read_only = self._inner.read_only
        self.aliases = self._inner.aliases
        self.meaning = self._inner.meaning
        self._wanted: dict[str, Wanted] = {}
        self._lock = threading.Lock()

    @property
    def declaration(self) -> Any:
        return self._inner.declaration

    def expect(self, id: str, wanted: Wanted) -> None:
        with self._lock:
            self._wanted[id] = wanted

    def forget(self, id: str) -> None:
        with self._lock:
            del self._wanted[id]

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        with self._lock:
            wanted = self._wanted.get(context.call_id)
        if wanted is None:
            return ordinary(input, context)
        around = replace(context, env={**context.env, **wanted.env})
        done = completed(input, around, wanted.timeout, _LIMIT)
        ran = Ran(done.exit_code, _text(done.stdout, context), _text(done.stderr, context), done.timed_out)
        wanted.ran = ran
        return ToolOutput(
            content=_excerpt(done, ran), structured={"exitCode": ran.exit_code}, is_error=not ran.ok
        )


class StepTerms(Struct, frozen=True, kw_only=True):
    """What a step of a recipe gives to the tool that it calls: variables for its programs, how often it has
    failed just before, and the subsets that are on for its run. A worker of a step has the rights of the
    process that executes the run; one that a client starts has those of the project."""

    env: Mapping[str, str] = {}
    failures: int | None = None
    enabled: tuple[str, ...] = ()
    is_step: bool = False


class Hands:
    """For one call of a kitchen tool."""

    def __init__(
        self,
        session: Session,
        bash: PlainBash,
        shift: Shift,
        context: ToolContext,
        terms: StepTerms | None = None,
    ) -> None:
        self._session = session
        self._bash = bash
        self.shift = shift
        self.context = context
        self.terms = terms or StepTerms()

    @property
    def root(self) -> str:
        return self._session.conversation.view.project.place.root

    @property
    def home(self) -> str:
        return self.context.home

    def setting(self, name: str) -> Any:
        assert self.context.setting is not None
        return self.context.setting(name)

    def command_setting(self, name: str) -> str | None:
        """A command of the configuration. One that the project wrote needs trust in the project."""
        from pathlib import Path

        from checkrein.base.config import load_config
        from checkrein.base.home import checkrein_home
        from checkrein.facts.config import KEYS

        services = self._session.conversation.services
        found = load_config(KEYS, Path(self.root), checkrein_home(services.env), services.env).values[name]
        if found.value and found.layer == "project" and not services.trust.status.trusted:
            raise ToolFailure(
                f"{name} is the project's, and the project is not trusted. Run `checkrein trust`."
            )
        return str(found.value) if found.value else None

    def shell(
        self, text: str, cwd: str, timeout: float | None = None, env: dict[str, str] | None = None
    ) -> Ran:
        """Run a text in bash. Raises ToolFailure when it is refused."""
        where = self.directory(cwd)
        if where != os.path.realpath(self._session.conversation.host.cwd):
            text = f"cd -- {shlex.quote(where)} && {{ {text}\n}}"
        id = short_id("call_")
        wanted = Wanted(timeout, {**self.terms.env, **(env or {})})
        self._bash.expect(id, wanted)
        aside = Aside(self.context.cancel, self.context.emit, self.context.call_id)
        try:
            use = ToolUse(id, "Bash", {"command": text})
            done = self._session.conversation.host.call_aside(use, aside, "program")
        finally:
            self._bash.forget(id)
        if wanted.ran is None or done.finished.refused:
            raise ToolFailure(str(done.finished.content))
        return wanted.ran

    def program(self, *argv: str, cwd: str, timeout: float | None = None) -> Ran:
        return self.shell(shlex.join(argv), cwd, timeout)

    def git(self, *argv: str, cwd: str, timeout: float | None = 120.0) -> Ran:
        return self.program("git", *argv, cwd=cwd, timeout=timeout)

    def gh(self, *argv: str, cwd: str = "", timeout: float | None = 60.0) -> Ran:
        token = self.setting("github.token")
        env = {"GH_TOKEN": str(token)} if token else {}
        ran = self.shell(shlex.join(("gh", *argv)), cwd or self.root, timeout, env)
        if ran.exit_code == _NOT_FOUND:
            raise ToolFailure("This tool needs the program gh. Install it, then run `gh auth login`.")
        return ran

    def gh_json(self, *argv: str, cwd: str = "") -> Any:
        """The JSON that gh prints. Raises ToolFailure with what it said instead."""
        ran = self.gh(*argv, cwd=cwd)
        if not ran.ok:
            raise ToolFailure(f"gh: {ran.last_words}")
        try:
            return json.loads(ran.stdout or "null")
        except ValueError:
            raise ToolFailure(f"gh did not print JSON: {ran.stdout[:200]!r}") from None

    def may_read(self, path: str) -> None:
        """Raises ToolFailure unless a Read of the file is allowed now."""
        self._may("Read", {"file_path": path})

    def may_write(self, path: str) -> None:
        self._may("Write", {"file_path": path, "content": ""})

    def may_start(self, skill: str, args: str) -> None:
        """Raises ToolFailure unless a worker may run the skill: its start is a call of Skill."""
        self._may("Skill", {"skill": skill, "args": args})

    @property
    def lent(self) -> Rights:
        """What a worker gets from the process that executes its run."""
        options = self._session.options
        return Rights(mode=options.mode, trust=options.trust) if self.terms.is_step else NO_RIGHTS

    def project_at(self, path: str) -> Project:
        """The project of a worker there. Where it is another one, as a clone is, it denies and asks about
        what is denied and asked about here, besides what its own rules say."""
        from checkrein.passes.load import load
        from checkrein.passes.recipes.subset_gate import enabled_once
        from checkrein.passes.visibility.session_view import governance_of

        own = self._session.conversation.view.project
        options = self._session.options
        rules = {"deny": [*options.disallowed], "ask": list[str]()}
        given = {"allow": [*options.allowed]} if self.terms.is_step else {}
        found = load(path, env=self.whole_env, bundled=True, rules={**rules, **given})
        if found.place.root != own.place.root:
            for rule in own.rules:
                if rule.verdict in rules and rule.problem is None:
                    rules[rule.verdict].append(rule.text)
            found = load(path, env=self.whole_env, bundled=True, rules={**rules, **given})
        governance = enabled_once(governance_of(found), self.terms.enabled)
        return replace(found, governance=governance) if self.terms.enabled else found

    def ask_model(self, system: str, text: str, model: str) -> str:
        """One answer of a model that has no tools. Raises ModelError when there is none."""
        name = model or self.setting("model.default")
        if not name:
            raise ToolFailure("No model is configured. Name one, or set model.default.")
        asides = self._session.conversation.host.bench.asides
        return asides.ask_model(self.context.cover.text(text), name, self.context.cancel, system)

    @property
    def whole_env(self) -> Mapping[str, str]:
        """The environment of the server, with the credentials of the models."""
        return {**self._session.conversation.services.env, **self.terms.env}

    def _may(self, tool: str, input: dict[str, Any]) -> None:
        aside = Aside(self.context.cancel, self.context.emit, self.context.call_id)
        host = self._session.conversation.host
        done = host.judged(ToolUse(short_id("call_"), tool, input), aside)
        if done.finished.refused or done.finished.is_error:
            raise ToolFailure(str(done.finished.content))

    def directory(self, path: str) -> str:
        found = self.path(path)
        if not os.path.isdir(found):
            raise ToolFailure(f"{path} is not a directory.")
        return found

    def repository(self, path: str) -> str:
        """The directory, which is in a repository of git."""
        where = self.directory(path)
        if not self.git("rev-parse", "--git-dir", cwd=where).ok:
            raise ToolFailure(f"{path} is not in a git repository.")
        return where

    def path(self, text: str) -> str:
        """Where a path really leads, from the project's root."""
        if "\0" in text:
            raise ToolFailure(f"{one_line(text)} is not a path.")
        return os.path.realpath(os.path.join(self.root, os.path.expanduser(text)))

    def pause(self, seconds: float) -> bool:
        """Wait; True when the call was cancelled meanwhile."""
        return self.context.cancel.wait(seconds)


Work = Callable[..., dict[str, Any]]


def _text(data: bytes, context: ToolContext) -> str:
    return context.cover.text(data.decode("utf-8", "replace"))


def _excerpt(done: Completed, ran: Ran) -> str:
    text = "\n".join(filter(None, (ran.stdout[-_SHOWN:], ran.stderr[-_SHOWN:])))
    return text or f"exit status {done.exit_code}"
