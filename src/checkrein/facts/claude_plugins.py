"""Plugins and marketplaces: manifest keys, component directories, source kinds, reserved names."""

from __future__ import annotations

MANIFEST_DIR = ".claude-plugin"
MANIFEST_FILE = "plugin.json"
MARKETPLACE_FILE = "marketplace.json"
OPEN_MANIFEST = "plugin.json"
OPEN_MCP_FILE = "mcp.json"
OPEN_SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"

# Component -> default place below the plugin root. A manifest key with the same name adds or replaces.
COMPONENTS: dict[str, str] = {
    "skills": "skills",
    "commands": "commands",
    "agents": "agents",
    "workflows": "workflows",
    "outputStyles": "output-styles",
    "hooks": "hooks/hooks.json",
    "mcpServers": ".mcp.json",
    "lspServers": ".lsp.json",
    "themes": "themes",
    "monitors": "monitors/monitors.json",
}
REPLACING_KEYS = frozenset({"commands", "agents", "workflows", "outputStyles", "themes", "monitors"})
EXPERIMENTAL_KEYS = frozenset({"themes", "monitors"})
SETTINGS_KEYS = frozenset({"agent", "subagentStatusLine"})

# What an entry of a language server and of a monitor must have.
LSP_REQUIRED: dict[str, type] = {"command": str, "extensionToLanguage": dict}
MONITOR_REQUIRED: dict[str, type] = {"name": str, "command": str, "description": str}
MONITOR_WHEN = r"always|on-skill-invoke:\S+"

# Manifest key -> the JSON types it may have. A wrong type fails the plugin, except for the lenient keys.
MANIFEST_KEYS: dict[str, tuple[type, ...]] = {
    "$schema": (str,),
    "name": (str,),
    "displayName": (str,),
    "version": (str,),
    "description": (str,),
    "author": (dict, str),
    "homepage": (str,),
    "repository": (str, dict),
    "license": (str,),
    "keywords": (list,),
    "metadata": (dict,),
    "defaultEnabled": (bool,),
    "skills": (str, list),
    "commands": (str, list, dict),
    "agents": (str, list),
    "workflows": (str, list),
    "outputStyles": (str, list),
    "hooks": (str, list, dict),
    "mcpServers": (str, list, dict),
    "lspServers": (str, list, dict),
    "themes": (str, list),
    "monitors": (str, list),
    "experimental": (dict,),
    "userConfig": (dict,),
    "channels": (list,),
    "dependencies": (list,),
}
LENIENT_KEYS = frozenset({"metadata", "experimental"})

OPEN_MANIFEST_KEYS = frozenset(
    {
        "$schema",
        "name",
        "version",
        "description",
        "author",
        "homepage",
        "repository",
        "license",
        "keywords",
        "extensions",
    }
)

OPEN_MANIFEST_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("version", "description", "homepage", "license"), (str,)),
    "author": (dict,),
    "repository": (str, dict),
    "keywords": (list,),
    "extensions": (dict,),
}
OPEN_SERVER_KEYS: dict[str, frozenset[str]] = {
    "stdio": frozenset({"type", "command", "args", "env", "cwd"}),
    "streamable-http": frozenset({"type", "url", "headers"}),
    "sse": frozenset({"type", "url", "headers"}),
}

# Source kind of a marketplace entry -> (required keys, optional keys).
SOURCE_KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "path": (("path",), ()),
    "github": (("repo",), ("ref", "sha")),
    "url": (("url",), ("ref", "sha")),
    "git-subdir": (("url", "path"), ("ref", "sha")),
    "npm": (("package",), ("version", "registry")),
    "archive": (("url",), ("sha256",)),
    "command": (("command",), ("timeout", "mode")),
}

MARKETPLACE_KEYS = frozenset(
    {
        "name",
        "owner",
        "plugins",
        "$schema",
        "description",
        "version",
        "metadata",
        "allowCrossMarketplaceDependenciesOn",
        "renames",
    }
)
ENTRY_KEYS = frozenset({"name", "source", "category", "tags", "strict", "relevance"}) | frozenset(
    MANIFEST_KEYS
)

RESERVED_MARKETPLACES = frozenset(
    {
        "claude-code-marketplace",
        "claude-code-plugins",
        "claude-plugins-official",
        "claude-plugins-community",
        "claude-community",
        "anthropic-marketplace",
        "anthropic-plugins",
        "agent-skills",
        "anthropic-agent-skills",
        "knowledge-work-plugins",
        "life-sciences",
        "claude-for-legal",
        "claude-for-financial-services",
        "financial-services-plugins",
        "first-party-plugins",
        "healthcare",
    }
)
RESERVED_PLUGINS = frozenset(
    {"org", "org-provisioned", "unknown", "inline", "skills-dir", "builtin", "synced"}
)

# The name of a plugin that no marketplace installed: `name@<this>`.
INLINE = "inline"
SKILLS_DIR = "skills-dir"
