"""The runtime that a project is for: weighted signals, promotion, tie order, hybrid threshold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from checkrein.base import frontmatter
from checkrein.base.files import read_text
from checkrein.dialects.claude.place import ancestors, locate
from checkrein.facts import claude, signals
from checkrein.facts.signals import SignalFact
from checkrein.model.project import Detection, Place, Signal

_MAX_PYTHON_FILES = 40
_MAX_PACKAGES = 20
_MAX_PYTHON_BYTES = 64 * 1024
_AS, _CC, _OC = "agent_skills_std", "claude_code", "openclaw"


def detect(path: str | os.PathLike[str], *, env: Mapping[str, str] | None = None) -> Detection:
    """The dialect of a directory or of one spec file, with every signal for it."""
    located = locate(os.fspath(path), env=os.environ if env is None else env)
    return detect_place(located.place, located.spec)


def detect_place(place: Place, spec: str | None) -> Detection:
    scene = _Scene(place, spec)
    found = [
        Signal(fact.id, fact.dialect, fact.weight, fact.evidence, file)
        for fact in signals.SIGNALS
        if (file := scene.find(fact)) is not None
    ]
    return decide(found, agents_file=scene.agents_file)


def decide(found: Iterable[Signal], *, agents_file: bool = False) -> Detection:
    """The dialect for a set of signals."""
    kept = tuple(found)
    if any(signal.id in signals.EXTENSIONS for signal in kept):
        absences = {fact.id for fact in signals.AGENT_SKILLS if fact.test == "absent"}
        kept = tuple(signal for signal in kept if signal.id not in absences)
    scores: dict[str, float] = {}
    for signal in kept:
        scores[signal.dialect] = scores.get(signal.dialect, 0.0) + signal.weight
    if not _is_openclaw(kept):
        scores.pop(_OC, None)
    if not scores:
        if agents_file:
            return Detection(_CC, {}, kept, rule="AGENTS.md alone counts as claude_code")
        return Detection("unknown", {}, kept, rule="no signals")
    ranked = sorted(scores, key=lambda name: (-scores[name], signals.TIE_ORDER.index(name)))
    ordered = {name: scores[name] for name in ranked}
    ranked, rule = _promoted(ranked, scores, kept)
    first = ranked[0]
    near = [name for name in ranked[1:] if scores[first] - scores[name] <= signals.HYBRID_THRESHOLD]
    if near:
        rule = f"within {signals.HYBRID_THRESHOLD} of {first}: {', '.join(near)}"
        return Detection("hybrid", ordered, kept, (first, *near), rule)
    return Detection(first, ordered, kept, (first,), rule or "highest score")


def _promoted(
    ranked: list[str], scores: Mapping[str, float], kept: Iterable[Signal]
) -> tuple[list[str], str]:
    """Agent Skills and Claude Code never make a hybrid: one extension, or a near tie, means Claude Code."""
    if _AS not in scores or _CC not in scores:
        return ranked, ""
    extension = next((signal for signal in kept if signal.id in signals.EXTENSIONS), None)
    gap = abs(scores[_AS] - scores[_CC])
    if extension is not None:
        winner, loser, rule = _CC, _AS, f"{extension.evidence} makes it claude_code ({extension.id})"
    elif 0 < gap <= signals.HYBRID_THRESHOLD:
        winner, loser, rule = _CC, _AS, "a near tie with agent_skills_std is promoted to claude_code (6a-1)"
    elif gap == 0:
        winner, loser, rule = _AS, _CC, "an exact tie goes to agent_skills_std (DET-22)"
    else:
        return [name for name in ranked if name != min((_AS, _CC), key=scores.__getitem__)], ""
    rest = [name for name in ranked if name != loser]
    best = max(scores[_AS], scores[_CC])
    rest.sort(key=lambda name: -(best if name == winner else scores[name]))
    return rest, rule


def _is_openclaw(kept: Iterable[Signal]) -> bool:
    """One strong signal or two medium ones; AGENTS.md alone does not count."""
    weights = [signal.weight for signal in kept if signal.dialect == _OC]
    return signals.STRONG in weights or len(weights) >= 2


class _Scene:
    """The files a detection looks at, each read at most once."""

    def __init__(self, place: Place, spec: str | None) -> None:
        self.place = place
        self.spec = spec
        self.values: dict[str, Any] = {}
        self.text = ""
        self._python: list[tuple[str, str]] | None = None
        self._all_python = ""
        if spec is not None:
            loaded = read_text(spec, within=place.within).text
            head = "\n".join(loaded.split("\n", signals.GENERATED_LINES)[: signals.GENERATED_LINES])
            if signals.GENERATED_MARK in head:
                self.spec = None
            else:
                self.text = loaded
                self.values = frontmatter.parse(loaded).values
        self.directories = [d for d in ancestors(place.root) if d != place.home] or [place.root]
        self.is_skill = spec is not None and os.path.basename(spec).lower() == claude.SKILL_FILE.lower()

    @property
    def agents_file(self) -> bool:
        return self._exists(self.place.root, claude.AGENTS_FILE) is not None

    def find(self, fact: SignalFact) -> str | None:
        """The file that shows the signal, or None."""
        values = fact.values
        found = _TESTS[fact.test](self, values)
        return found if found else None

    def path(self, values: tuple[str, ...]) -> str | None:
        return next((hit for value in values if (hit := self._exists(self.place.root, value))), None)

    def all(self, values: tuple[str, ...]) -> str | None:
        hits = [self._exists(self.place.root, value) for value in values]
        return hits[0] if all(hits) else None

    def above(self, values: tuple[str, ...]) -> str | None:
        places = [os.path.dirname(self.spec)] if self.spec else []
        for directory in (*places, *self.directories):
            for value in values:
                hit = self._exists(directory, value)
                if hit is not None and os.path.realpath(hit) != self.place.config_dir:
                    return hit
        return None

    def beside(self, values: tuple[str, ...]) -> str | None:
        if self.spec is None:
            return None
        directory = os.path.dirname(self.spec)
        return next((hit for value in values if (hit := self._exists(directory, value))), None)

    def absent(self, values: tuple[str, ...]) -> str | None:
        return self.spec if self.is_skill and self.above(values) is None else None

    def location(self, values: tuple[str, ...]) -> str | None:
        return self.spec if self.spec and any(value in self.spec for value in values) else None

    def named(self, values: tuple[str, ...]) -> str | None:
        return self.spec if self.spec and os.path.basename(self.spec) in values else None

    def field(self, values: tuple[str, ...]) -> str | None:
        return self.spec if any(value in self.values for value in values) else None

    def value(self, values: tuple[str, ...]) -> str | None:
        return self.spec if str(self.values.get(values[0])) in values[1:] else None

    def only(self, values: tuple[str, ...]) -> str | None:
        return self.spec if self.values and all(name in values for name in self.values) else None

    def matches(self, values: tuple[str, ...]) -> str | None:
        return self.spec if re.fullmatch(values[1], str(self.values.get(values[0], ""))) else None

    def in_text(self, values: tuple[str, ...]) -> str | None:
        return self.spec if re.search(values[0], self.text, re.MULTILINE) else None

    def python(self, values: tuple[str, ...]) -> str | None:
        if self._python is None:
            self._python = list(_python_files(self.place.root))
            self._all_python = "\n".join(text for _, text in self._python)
        pattern = re.compile(values[0], re.MULTILINE)
        if not pattern.search(self._all_python):
            return None
        return next((path for path, text in self._python if pattern.search(text)), None)

    def json(self, values: tuple[str, ...]) -> str | None:
        from checkrein.base.jsonpos import Json, decode

        path = os.path.join(self.place.root, values[0])
        if not os.path.isfile(path):
            return None
        decoded = decode(read_text(path, within=self.place.within).text)
        value: Any = decoded.value if isinstance(decoded, Json) else None
        for key in values[1].split("."):
            value = value.get(key) if isinstance(value, dict) else None
        wanted = values[2:]
        return path if value is not None and (not wanted or str(value) in wanted) else None

    def _exists(self, directory: str, name: str) -> str | None:
        if "*" in name:
            return _first_match(directory, name)
        path = os.path.join(directory, name.rstrip("/"))
        found = os.path.isdir(path) if name.endswith("/") else os.path.isfile(path)
        return path if found else None


_TESTS: dict[str, Any] = {
    "path": _Scene.path,
    "all": _Scene.all,
    "above": _Scene.above,
    "beside": _Scene.beside,
    "absent": _Scene.absent,
    "location": _Scene.location,
    "spec": _Scene.named,
    "field": _Scene.field,
    "value": _Scene.value,
    "only": _Scene.only,
    "matches": _Scene.matches,
    "text": _Scene.in_text,
    "python": _Scene.python,
    "json": _Scene.json,
}


def _first_match(directory: str, pattern: str) -> str | None:
    """The first file for a pattern with one `*`: within the file's name, or for a whole folder."""
    above, _, below = pattern.partition("*")
    try:
        with os.scandir(os.path.join(directory, above)) as entries:
            for entry in entries:
                path = entry.path + below if below.startswith("/") else entry.path
                if path.endswith(below) and os.path.isfile(path):
                    return path
    except OSError:
        return None
    return None


def _python_files(root: str) -> Iterable[tuple[str, str]]:
    """(path, text) of a bounded number of Python files: in the root, in `src/`, in its packages."""
    count = 0
    source = os.path.join(root, "src")
    for directory in (root, source, *_packages(source)):
        try:
            with os.scandir(directory) as entries:
                paths = sorted(
                    entry.path for entry in entries if entry.name.endswith(".py") and entry.is_file()
                )
        except OSError:
            continue
        for path in paths:
            count += 1
            if count > _MAX_PYTHON_FILES:
                return
            yield path, read_text(path, _MAX_PYTHON_BYTES, within=(root,)).text


def _packages(source: str) -> list[str]:
    try:
        with os.scandir(source) as entries:
            found = sorted(entry.path for entry in entries if entry.is_dir() and entry.name[0] != ".")
    except OSError:
        return []
    return found[:_MAX_PACKAGES]
