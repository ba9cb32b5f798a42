"""Directories that Claude Code takes skills from. A value of these types has passed its check."""

from __future__ import annotations

import os
from typing import ClassVar, Self

from checkrein.base.errors import FileError
from checkrein.facts.claude_launch import (
    ADD_DIR_SKILLS,
    PLUGIN_DIR_SKILLS,
    PLUGIN_MANIFEST,
    SKILL_FILE,
    ClaudeFlag,
)


class LayoutError(FileError):
    default_kind = "layout_invalid"


class LaunchDir:
    """A directory for one flag. `at` is the only way to make one; it looks for the skills first."""

    __slots__ = ("_path",)
    flag: ClassVar[ClaudeFlag]
    skills: ClassVar[str]
    _path: str

    def __init__(self) -> None:
        raise TypeError(f"use {type(self).__name__}.at(path), which checks the directory")

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """Raises LayoutError for a directory in which Claude Code would find no skill."""
        root = os.path.abspath(path)
        cls._check(root)
        made = object.__new__(cls)
        made._path = root
        return made

    @classmethod
    def _check(cls, root: str) -> None:
        if not skill_names(os.path.join(root, cls.skills)):
            raise LayoutError(
                f"{root} has no {cls.skills}/NAME/{SKILL_FILE}; Claude Code finds no skill in it.",
                hint=f"Give {cls.flag} the directory that holds {cls.skills}/.",
            )

    @property
    def path(self) -> str:
        return self._path

    @property
    def words(self) -> tuple[str, str]:
        """The flag and its value."""
        return str(self.flag), self._path

    def names(self) -> tuple[str, ...]:
        return skill_names(os.path.join(self._path, self.skills))


class AddDir(LaunchDir):
    """A directory for `--add-dir`: its skills are `/name`."""

    __slots__ = ()
    flag = ClaudeFlag.ADD_DIR
    skills = ADD_DIR_SKILLS


class PluginDir(LaunchDir):
    """A plugin for `--plugin-dir`: its skills are `/plugin:name`."""

    __slots__ = ()
    flag = ClaudeFlag.PLUGIN_DIR
    skills = PLUGIN_DIR_SKILLS

    @classmethod
    def _check(cls, root: str) -> None:
        super()._check(root)
        if not os.path.isfile(os.path.join(root, PLUGIN_MANIFEST)):
            raise LayoutError(f"{root} has no {PLUGIN_MANIFEST}.", hint="Name the root of a plugin.")


def skill_names(directory: str) -> tuple[str, ...]:
    """The folders with a SKILL.md, sorted."""
    try:
        found = sorted(os.listdir(directory))
    except OSError:
        return ()
    return tuple(name for name in found if os.path.isfile(os.path.join(directory, name, SKILL_FILE)))
