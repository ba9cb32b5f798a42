"""The tools that a session has before it starts: the built-in ones and those of installed packages.

Every judge takes their effects from here. Without such packages this costs one look at the directories of
packages and loads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.extensions import installed
from checkrein.policy.tools import Tools, builtin_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from checkrein.passes.extensions import Added


class AddedTools(Struct, frozen=True):
    """The tools of installed packages, and why others can't be used."""

    added: tuple[Added, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    @property
    def tools(self) -> tuple[Any, ...]:
        """Each is a `checkrein.runtime.tools.port.AnyTool`."""
        return tuple(one.value for one in self.added)

    def registry(self) -> Tools:
        """These and the built-in tools, as decisions see them."""
        if not self.added:
            return builtin_tools()
        aliases = {alias: tool.name for tool in self.tools for alias in tool.aliases}
        return builtin_tools().with_tool(*(tool.meaning for tool in self.tools), aliases=aliases)

    def main_field(self, name: str) -> str | None:
        """The input field that a text alone fills: the only required text, or else the only field."""
        tool = next((one for one in self.tools if name == one.name or name in one.aliases), None)
        if tool is None:
            return None
        schema = _mapping(tool.declaration.schema)
        fields = _mapping(schema.get("properties"))
        required = schema.get("required")
        texts = [
            field
            for field, kind in fields.items()
            if isinstance(required, list | tuple)
            and field in required
            and _mapping(kind).get("type") == "string"
        ]
        only = texts or list(fields)
        return only[0] if len(only) == 1 else None


def _mapping(value: Any) -> Mapping[str, Any]:
    """A package may write anything where its schema needs an object."""
    return value if isinstance(value, dict) else {}


NO_ADDED_TOOLS = AddedTools()


def added_tools(*projects: str) -> AddedTools:
    """`projects` can't add tools."""
    if not any(one.group == "tools" for one in installed(*projects)):
        return NO_ADDED_TOOLS
    from checkrein.passes.extensions import installed_tools

    found = installed_tools(*projects)
    return AddedTools(found.added, found.problems)
