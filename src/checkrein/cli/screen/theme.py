"""How the screen looks: a style for each role, on a dark and on a light background, or none at all.

A style is words as rich writes them: `bold cyan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

ThemeName = Literal["auto", "dark", "light", "none"]
THEMES: tuple[ThemeName, ...] = ("auto", "dark", "light", "none")

_DARK = {
    "accent": "bold cyan",
    "prompt": "bold",
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "quiet": "dim",
    "strong": "bold",
    "tool": "bold",
    "added": "green",
    "removed": "red",
    "chosen": "bold cyan",
    "mode": "magenta",
    "thought": "dim italic",
}
_LIGHT = _DARK | {"accent": "bold blue", "chosen": "bold blue", "warn": "magenta"}
_LIGHT_BACKGROUNDS = ("7", "15")


class Theme:
    """The theme in use. It may change while the screen is open."""

    def __init__(self, name: ThemeName, env: Mapping[str, str]) -> None:
        self._env = env
        self.use(name)

    def use(self, name: ThemeName) -> None:
        plain = bool(self._env.get("NO_COLOR")) or self._env.get("TERM") == "dumb"
        self.name = "none" if plain else _background(self._env) if name == "auto" else name

    @property
    def colors(self) -> bool:
        return self.name != "none"

    @property
    def code(self) -> str:
        """The style of highlighted code, made of the terminal's own colours."""
        return "ansi_light" if self.name == "light" else "ansi_dark"

    def __getitem__(self, role: str) -> str:
        if self.name == "none":
            return ""
        return (_LIGHT if self.name == "light" else _DARK)[role]


def _background(env: Mapping[str, str]) -> str:
    """Some terminals tell their colours: `0;15` is black on white."""
    return "light" if env.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_BACKGROUNDS else "dark"
