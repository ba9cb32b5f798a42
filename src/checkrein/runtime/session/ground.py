"""What a session needs before it offers or decides anything: the trusted part of the project, the model, the
transcript."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import AuthError, CheckreinError
from checkrein.llm.port import Model
from checkrein.model.project import Place, Project
from checkrein.model.view import View
from checkrein.policy.policy import Directory
from checkrein.runtime.memory.place import memory_dir
from checkrein.runtime.session.chooser import Choose, Chooser, name_of
from checkrein.runtime.session.conversation import Start
from checkrein.runtime.session.opened import Opened, open_session
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.state import State
from checkrein.runtime.store.writer import SessionWriter
from checkrein.runtime.trust import Standing, standing

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.runtime.session.main_agent import Role


_MODEL_VARIABLES = ("ANTHROPIC_MODEL", "CHECKREIN_MODEL__DEFAULT")
"""Whoever sets one of these wants that model, for a continued session too."""


class Ground(Struct, frozen=True, kw_only=True):
    """`whole` is the project, `view` the part that counts, `trust` why. `memory` is the directory of the auto
    memory, or of the agent's own, which is `own_memory` too. `notes` are for the person who started the
    session. `role` is set when the conversation is an agent."""

    options: Options
    env: dict[str, str]
    whole: Project
    view: View
    trust: Standing
    choose: Chooser
    model: tuple[Model, str]
    state: State
    opened: Opened
    memory: str | None
    own_memory: Directory | None = None
    notes: tuple[str, ...] = ()
    role: Role | None = None

    @property
    def project(self) -> Project:
        return self.view.project

    @property
    def place(self) -> Place:
        return self.view.project.place

    @property
    def writer(self) -> SessionWriter:
        return self.opened.writer

    @property
    def start(self) -> Start:
        """What the conversation at the root begins with."""
        return Start(
            opened=self.opened,
            model=self.model,
            memory=self.memory,
            own_memory=self.own_memory,
            notes=self.notes,
            lean=self.role is not None and self.role.lean,
        )

    @property
    def mode(self) -> str | None:
        """The mode in the options, else the one that the session had."""
        return self.options.mode or self.opened.mode


def lay_ground(
    project: Project | View | str | PathLike[str],
    model: Model | str | None,
    options: Options,
    env: dict[str, str] | None,
) -> Ground:
    environment = dict(os.environ) if env is None else env
    view = _view(project, environment)
    whole = view.project
    trust = standing(whole, trusted=options.trust)
    view = replace(view, project=trust.project)
    role = None
    if options.agent or (view.project.setting("agent") and not options.bare):
        from checkrein.runtime.session.main_agent import role_of

        role = role_of(view, options, model, environment, trust)
        view, options, model = role.view, role.options, role.model
    choose = Chooser(replace(trust, project=view.project), environment)
    goes_on = options.resume is not None or options.continue_
    waits = goes_on and model is None and not any(environment.get(name) for name in _MODEL_VARIABLES)
    chosen = None if waits else _chosen(choose, model, options)
    state = State("")
    opened = open_session(options, view.project.place, state)
    notes: list[str] = [role.note] if role is not None and role.note else []
    if options.continue_ and opened.source == "startup":
        notes.append("There is no session to continue here; this is a new one.")
    if options.worktree is not None:
        notes.append(f"This session works in the worktree {options.worktree}.")
    try:
        chosen = chosen or _had(choose, opened.model, notes)
        state.model = chosen[1]
        own = role.memory if role is not None and not options.bare else None
        if options.record is not None:
            from checkrein.llm.record import RecordingModel

            chosen = (RecordingModel(chosen[0], options.record, choose.words()), chosen[1])
        return Ground(
            options=options,
            env=environment,
            whole=whole,
            view=view,
            trust=trust,
            choose=choose,
            model=chosen,
            state=state,
            opened=opened,
            memory=own.path if own is not None else _auto_memory(view.project, options, environment),
            own_memory=own,
            notes=tuple(notes),
            role=role,
        )
    except BaseException:
        opened.writer.close()
        raise


def _auto_memory(project: Project, options: Options, env: dict[str, str]) -> str | None:
    return None if options.bare else memory_dir(project, env)


def _chosen(choose: Choose, model: Model | str | None, options: Options) -> tuple[Model, str]:
    if not (isinstance(model, str) or model is None):
        return model, name_of(model)
    try:
        return choose(model)
    except AuthError as error:
        if options.kind != "sdk":
            raise
        from checkrein.llm.unavailable import UnavailableModel

        missing = UnavailableModel(model or "default", error)
        return missing, missing.name


def _had(choose: Choose, name: str | None, notes: list[str]) -> tuple[Model, str]:
    """The model that the session used; the default when that one is no longer available."""
    if name is None:
        return choose(None)
    try:
        return choose(name)
    except CheckreinError as error:
        chosen = choose(None)
        notes.append(f"The session had the model {name}: {error.message} It continues with {chosen[1]}.")
        return chosen


def _view(project: Project | View | str | PathLike[str], env: dict[str, str]) -> View:
    if isinstance(project, View):
        return project
    from checkrein.passes.load import load, session_view

    if isinstance(project, Project):
        return session_view(project)
    return session_view(load(project, env=env, detect=False))
