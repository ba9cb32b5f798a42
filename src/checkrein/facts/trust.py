"""Parts of a project that run something or allow more, beside hooks, servers and allow rules."""

from __future__ import annotations

# Settings whose value is a command.
_HELPERS = """
apiKeyHelper awsAuthRefresh awsCredentialExport gcpAuthRefresh otelHeadersHelper proxyAuthHelper
statusLine subagentStatusLine fileSuggestion processWrapper policyHelper
"""
HELPER_KEYS = frozenset(_HELPERS.split())

# Keys of Checkrein's own configuration whose value is a command.
COMMAND_KEYS = ("test_check.command", "reset_workspace.command", "worktree_setup.command")

# Settings that loosen something, and the values that do (None: every value). A key includes all below it.
WIDENING_KEYS: dict[str, tuple[object, ...] | None] = {
    "permissions.defaultMode": ("acceptEdits", "auto", "bypassPermissions"),
    "disableAllHooks": (True,),
    "allowedHttpHookUrls": None,
    "httpHookAllowedEnvVars": None,
    "enableAllProjectMcpServers": (True,),
    "enabledMcpjsonServers": None,
    "allowedMcpServers": None,
    "enabledPlugins": None,
    "extraKnownMarketplaces": None,
    "autoMemoryDirectory": None,
    "plansDirectory": None,
    "defaultShell": None,
    "skipWebFetchPreflight": (True,),
    "worktree.symlinkDirectories": None,
    "sandbox.enabled": (False,),
    "sandbox.failIfUnavailable": (False,),
    "sandbox.autoAllowBashIfSandboxed": (True,),
    "sandbox.allowUnsandboxedCommands": (True,),
    "sandbox.excludedCommands": None,
    "sandbox.ignoreViolations": None,
    "sandbox.enableWeakerNestedSandbox": (True,),
    "sandbox.enableWeakerNetworkIsolation": (True,),
    "sandbox.filesystem.allowRead": None,
    "sandbox.filesystem.allowWrite": None,
    "sandbox.network.allowedDomains": None,
    "sandbox.network.allowUnixSockets": None,
    "sandbox.network.allowAllUnixSockets": (True,),
    "sandbox.network.allowLocalBinding": (True,),
    "sandbox.network.allowMachLookup": None,
    "sandbox.network.httpProxyPort": None,
    "sandbox.network.socksProxyPort": None,
}

# Settings that are also separate items: hooks, servers, rules.
ITEM_KEYS = ("hooks", "mcpServers", "permissions.allow")

# Files that hold commands for a program.
TASK_FILES: dict[str, tuple[str, ...]] = {
    "make": ("GNUmakefile", "makefile", "Makefile"),
    "gmake": ("GNUmakefile", "makefile", "Makefile"),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "npm": ("package.json", ".npmrc"),
    "pnpm": ("package.json", ".npmrc", "pnpm-workspace.yaml"),
    "yarn": ("package.json", ".yarnrc.yml", ".yarnrc"),
    "bun": ("package.json", "bunfig.toml"),
    "npx": ("package.json", ".npmrc"),
    "deno": ("deno.json", "deno.jsonc"),
    "rake": ("Rakefile",),
    "pre-commit": (".pre-commit-config.yaml",),
    "lefthook": ("lefthook.yml",),
    "mise": ("mise.toml", ".mise.toml"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "uv": ("pyproject.toml",),
    "poetry": ("pyproject.toml",),
    "cargo": (".cargo/config.toml",),
}

# A script in the project's configuration may load files beside it; those with these endings count too.
SCRIPT_SUFFIXES = (
    *(".sh", ".bash", ".zsh", ".fish", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".rb", ".pl", ".php"),
    *(".lua", ".ps1", ".json5", ".jq", ".awk"),
)
