"""Claude Code: advised sizes, names that matter only when something refers to them, types of settings."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MEMORY_LINES = 200
MEMORY_BYTES = 25_000
BRACE_EXPANSIONS = 1000

# Tools of some platforms or plans that rules and lists may name.
OTHER_TOOLS = _words(
    """
    PushNotification Artifact RemoteTrigger SendUserFile ShareOnboardingGuide EndConversation Cd
    StructuredOutput TeamCreate TeamDelete
    """
)

# Fields that the product accepts without documenting what they do.
UNDOCUMENTED_FIELDS = _words("display-name display_name displayName default-enabled fallback")

# Fields of other agents' files that are not misspellings of ours.
FOREIGN_FIELDS = _words("mode target handoffs hidden version category title")

# Fields that tell other agents where a rule applies -> Claude Code's field, if it has one.
FOREIGN_RULE_FIELDS: dict[str, str | None] = {
    "globs": "paths",
    "applyTo": "paths",
    "alwaysApply": None,
    "trigger": None,
}

# Commands of the product itself, with its bundled skills. Users type `/name`.
BUILTIN_COMMANDS = _words(
    """
    add-dir agents bashes batch btw bug cd chrome claude-api clear code-review color compact config
    context copy cost debug desktop deep-research diff doctor effort exit export extra-usage fast
    feedback fork heapdump help hooks ide import init insights install-github-app install-slack-app
    keybindings keybindings-help login logout loop mcp memory mobile model output-style passes
    permissions plan plugin pr-comments privacy-settings powerup quit rate-limit-options
    release-notes reload-plugins remote-control remote-env rename resume review rewind run sandbox
    schedule security-review session setup-bedrock setup-vertex setup-token simplify skills stats
    status statusline stickers stop tag tasks team-onboarding teleport terminal-setup theme todos
    trust tui ultraplan ultrareview upgrade usage verify vim voice web-setup workflows
    """
)

# Environment variables that send the model's traffic, and the credential with it, somewhere else.
ENDPOINT_VARIABLES = _words(
    """
    ANTHROPIC_BASE_URL ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_BASE_URL
    ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_CUSTOM_HEADERS HTTP_PROXY HTTPS_PROXY ALL_PROXY
    """
)

# Settings keys and the JSON types they take. Keys that take several forms are left out.
BOOLEAN_SETTINGS = _words(
    """
    alwaysThinkingEnabled enforceAvailableModels fastMode showThinkingSummaries disableAllHooks
    autoCompactEnabled autoMemoryEnabled fileCheckpointingEnabled enableAllProjectMcpServers
    disableClaudeAiConnectors disableBundledSkills disableSkillShellExecution includeCoAuthoredBy
    includeGitInstructions respectGitignore sandbox.enabled sandbox.autoAllowBashIfSandboxed
    sandbox.allowUnsandboxedCommands sandbox.failIfUnavailable allowManagedHooksOnly
    allowManagedPermissionRulesOnly allowManagedMcpServersOnly skipWebFetchPreflight
    prefersReducedMotion spinnerTipsEnabled verbose
    """
)
LIST_SETTINGS = _words(
    """
    permissions.additionalDirectories availableModels claudeMdExcludes allowedHttpHookUrls
    httpHookAllowedEnvVars enabledMcpjsonServers disabledMcpjsonServers sandbox.excludedCommands
    sandbox.filesystem.allowWrite sandbox.filesystem.denyWrite sandbox.filesystem.denyRead
    sandbox.filesystem.allowRead sandbox.network.allowedDomains sandbox.network.deniedDomains
    """
)
OBJECT_SETTINGS = _words("env enabledPlugins extraKnownMarketplaces skillOverrides sandbox statusLine")
NUMBER_SETTINGS = _words("cleanupPeriodDays skillListingBudgetFraction skillListingMaxDescChars")
TEXT_SETTINGS = _words("model outputStyle language agent apiKeyHelper effortLevel")
