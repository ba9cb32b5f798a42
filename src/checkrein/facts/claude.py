"""Claude Code: directories, file names, limits, reserved names and closed value sets."""

from __future__ import annotations

import sys

CONFIG_DIR = ".claude"
SKILL_FILE = "SKILL.md"
MEMORY_FILE = "CLAUDE.md"
LOCAL_MEMORY_FILE = "CLAUDE.local.md"
AGENTS_FILE = "AGENTS.md"
MCP_FILE = ".mcp.json"
STATE_FILE = ".claude.json"
SETTINGS_FILE = "settings.json"
LOCAL_SETTINGS_FILE = "settings.local.json"
MANAGED_SETTINGS_FILE = "managed-settings.json"
MANAGED_DROPINS = "managed-settings.d"
MANAGED_MCP_FILE = "managed-mcp.json"
CREDENTIALS_FILE = ".credentials.json"

_MANAGED_DIRS = {
    "linux": "/etc/claude-code",
    "darwin": "/Library/Application Support/ClaudeCode",
    "win32": r"C:\Program Files\ClaudeCode",
}

IMPORT_HOPS = 4
SETTINGS_FILE_BYTES = 2 * 1024 * 1024
LISTING_DESCRIPTION_CHARS = 1536
LISTING_BUDGET_CHARS = 8000
LISTING_BUDGET_FRACTION = 0.01
TOOL_NAME_CHARS = 64
SERVER_TIMEOUT_MIN_MS = 1000

EFFORTS = ("low", "medium", "high", "xhigh", "max")
MODEL_ALIASES = ("sonnet", "opus", "haiku", "fable", "inherit", "default", "best", "opusplan")
PERMISSION_MODES = ("default", "manual", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
NARROW_MODES = ("default", "manual", "plan")
"""Modes that approve nothing without a question."""
AGENT_COLORS = ("red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan")
AGENT_MEMORY = ("user", "project", "local")
SHELLS = ("bash", "powershell")
SKILL_CONTEXTS = ("fork",)
ISOLATIONS = ("worktree",)
SETTING_SOURCES = ("user", "project", "local")
SKILL_OVERRIDES = ("on", "name-only", "user-invocable-only", "off")

TRANSPORTS = ("stdio", "http", "sse", "ws")
COMPATIBLE_VERSION = "2.1.325"
"""The version of Claude Code whose command line and frames Checkrein has."""
SDK_ENV = "CLAUDE_AGENT_SDK_VERSION"
"""The variable that the SDKs set for the agent that they start."""
SDK_CHECKPOINTS_ENV = "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"
CALLER_TRANSPORT = "sdk"
"""The `type` of a server in the process of the program that starts the agent."""
SERVER_KEYS = (
    "type", "command", "args", "env", "cwd", "url",
    "headers", "headersHelper", "oauth", "timeout", "alwaysLoad",
)  # fmt: skip
TRANSPORT_ALIASES = {"streamable-http": "http", "streamable_http": "http"}
RESERVED_SERVERS = ("workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser")

BUILTIN_AGENTS = (
    "Explore",
    "Plan",
    "general-purpose",
    "claude",
    "statusline-setup",
    "claude-code-guide",
    "fork",
)
SYNCED_SKILLS = "synced"
RESERVED_SKILL_WORDS = ("anthropic", "claude")

ENV_CONFIG_DIR = "CLAUDE_CONFIG_DIR"
ENV_NO_POLICY_SKILLS = "CLAUDE_CODE_DISABLE_POLICY_SKILLS"
ENV_NO_MEMORY = "CLAUDE_CODE_DISABLE_CLAUDE_MDS"
ENV_ADDED_MEMORY = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"
ENV_PLUGIN_ROOT = "CLAUDE_CODE_PLUGIN_CACHE_DIR"

# Where the product looks for a credential, in its order. We look at names and existence, never values.
CREDENTIAL_ENV = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN")
CREDENTIAL_SETTINGS = (
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
)


def managed_dir(platform: str = sys.platform) -> str:
    return _MANAGED_DIRS.get(platform, _MANAGED_DIRS["linux"])
