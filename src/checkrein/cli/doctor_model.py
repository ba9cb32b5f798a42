"""`checkrein doctor`: the model that a run here would use, its credential by name, and whether it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from checkrein.model.project import Project


class ModelRow(Struct, frozen=True, omit_defaults=True):
    """`credential` names where the credential comes from, never its value. `found` says what a request that
    costs nothing showed; without one, that none was sent."""

    state: Literal["ok", "weak", "missing"]
    found: str
    provider: str | None = None
    name: str | None = None
    credential: str | None = None
    base_url: str | None = None
    fix: str | None = None

    def line(self) -> str:
        if self.provider is None:
            return self.found
        who = f" with {self.credential}" if self.credential else ""
        return f"{self.provider}:{self.name}{who}: {self.found}"


def model_row(project: Project, spec: str | None, *, offline: bool) -> ModelRow:
    """As `checkrein run` would choose it. Never raises on what a user configured."""
    import os

    from checkrein.base.errors import CheckreinError
    from checkrein.cli import out
    from checkrein.llm.probe import Probe, probe
    from checkrein.protocol.waits import told_if_slow
    from checkrein.runtime.session.chooser import Chooser
    from checkrein.runtime.trust import standing

    chooser = Chooser(standing(project), dict(os.environ))
    try:
        chosen = chooser.chosen(spec)
    except CheckreinError as error:
        return ModelRow("missing", error.message, fix=error.hint)
    endpoint = chosen.endpoint
    if endpoint is None:
        return ModelRow("ok", "it is a file", chosen.provider, chosen.name)
    unseen = Probe("ok", "not asked (--offline)")
    with told_if_slow(lambda: chooser.waiting, lambda line: out.say(f"checkrein: {line}", err=True)):
        seen = unseen if offline else probe(endpoint, chosen.name, chooser.env())
    source, url = endpoint.credential.source, endpoint.base_url
    return ModelRow(seen.state, seen.found, chosen.provider, chosen.name, source, url, seen.fix)
