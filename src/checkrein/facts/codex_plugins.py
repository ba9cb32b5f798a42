"""Plugins of Codex: where the manifest is, and its keys."""

from __future__ import annotations

MANIFEST_DIR = ".codex-plugin"
MANIFEST_FILE = "plugin.json"

# Manifest key -> the JSON types it may have.
MANIFEST_KEYS: dict[str, tuple[type, ...]] = {
    "$schema": (str,),
    "name": (str,),
    "version": (str,),
    "description": (str,),
    "author": (dict, str),
    "homepage": (str,),
    "repository": (str, dict),
    "license": (str,),
    "keywords": (list,),
    "skills": (str, list),
    "mcpServers": (str, dict),
    "apps": (str, list, dict),
    "hooks": (str, list, dict),
    "commands": (str, list),
    "interface": (dict,),
}
PATH_KEYS = ("skills", "mcpServers", "apps", "hooks", "commands")
