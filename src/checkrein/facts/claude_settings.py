"""Every documented settings key and who may set it.

A key without a mark may be in any settings file. `permissions.allow` and the like are dotted; a key whose
value is a map of the user's own names (`env`, `enabledPlugins`) includes everything below it.
"""

from __future__ import annotations

from checkrein.base.origin import Scope

PRECEDENCE: tuple[Scope, ...] = ("managed", "cli", "local", "project", "user")

_PLAIN = """
advisorModel alwaysThinkingEnabled availableModels effortLevel enforceAvailableModels fallbackModel fastMode
fastModePerSessionOptIn language model modelOverrides outputStyle showThinkingSummaries switchModelsOnFlag
ultracode permissions.allow permissions.ask permissions.deny permissions.additionalDirectories
permissions.defaultMode permissions.disableBypassPermissionsMode permissions.disableAutoMode disableAutoMode
sandbox.enabled sandbox.autoAllowBashIfSandboxed sandbox.excludedCommands sandbox.allowUnsandboxedCommands
sandbox.failIfUnavailable sandbox.enableWeakerNestedSandbox sandbox.enableWeakerNetworkIsolation
sandbox.ignoreViolations sandbox.filesystem.allowRead sandbox.filesystem.allowWrite
sandbox.filesystem.denyRead sandbox.filesystem.denyWrite sandbox.network.allowedDomains
sandbox.network.deniedDomains sandbox.network.allowUnixSockets sandbox.network.allowAllUnixSockets
sandbox.network.allowLocalBinding sandbox.network.allowMachLookup sandbox.network.httpProxyPort
sandbox.network.socksProxyPort sandbox.credentials.files sandbox.credentials.envVars autoCompactEnabled
autoCompactWindow autoMemoryDirectory autoMemoryEnabled claudeMdExcludes env fileCheckpointingEnabled
plansDirectory skillListingBudgetFraction skillListingMaxDescChars hooks disableAllHooks allowedHttpHookUrls
httpHookAllowedEnvVars disableWorkflows enableWorkflows workflowKeywordTriggerEnabled workflowSizeGuideline
allowedMcpServers deniedMcpServers disableClaudeAiConnectors enableAllProjectMcpServers
enabledMcpjsonServers disabledMcpjsonServers mcpServers enabledPlugins extraKnownMarketplaces skillOverrides
disableBundledSkills disableSkillShellExecution agent crossSessionInbound disableAgentView
isolatePeerMachines teammateMode worktree.baseRef worktree.bgIsolation worktree.sparsePaths
worktree.symlinkDirectories attribution.commit attribution.pr attribution.sessionUrl includeCoAuthoredBy
includeGitInstructions prUrlTemplate apiKeyHelper awsAuthRefresh awsCredentialExport gcpAuthRefresh
otelHeadersHelper forceLoginMethod forceLoginOrgUUID autoScrollEnabled axScreenReader companyAnnouncements
defaultShell editorMode emojiCompletionEnabled fileSuggestion keybindingFlavor prefersReducedMotion
promptSuggestionEnabled respectGitignore respondToBashCommands showClearContextOnPlanAccept showTurnDuration
spinnerTipsEnabled spinnerTipsOverride spinnerVerbs statusLine subagentStatusLine syntaxHighlightingDisabled
terminalProgressBarEnabled terminalTitleFromRename theme tui verbose viewMode voice voiceEnabled
wheelScrollAccelerationEnabled agentPushNotifEnabled awaySummaryEnabled disableArtifact
disableDeepLinkRegistration disableRemoteControl inputNeededNotifEnabled preferredNotifChannel
remote.defaultEnvironmentId remoteControlAtStartup autoUpdatesChannel minimumVersion cleanupPeriodDays
feedbackSurveyRate skipWebFetchPreflight
"""

_MANAGED = """
allowManagedPermissionRulesOnly sandbox.filesystem.allowManagedReadPathsOnly
sandbox.network.allowManagedDomainsOnly sandbox.bwrapPath sandbox.socatPath claudeMd allowManagedHooksOnly
allowManagedMcpServersOnly allowAllClaudeAiMcps strictKnownMarketplaces blockedMarketplaces
strictPluginOnlyCustomization disableCommandPluginSources pluginSuggestionMarketplaces pluginTrustMessage
channelsEnabled allowedChannelPlugins forceLoginGatewayUrl sshHostAllowlist requiredMinimumVersion
requiredMaximumVersion browserExternalPageTools disableBrowserExternalNavigation disableMobileSimulatorTools
disableSideloadFlags forceRemoteSettingsRefresh parentSettingsBehavior policyHelper.path
policyHelper.refreshIntervalMs policyHelper.timeoutMs wslInheritsWindowsSettings
"""

_USER_OR_MANAGED = """
autoMode skipAutoPermissionPrompt sandbox.filesystem.disabled sandbox.network.strictAllowlist
sandbox.network.tlsTerminate sandbox.credentials.allowPlaintextInject sandbox.credentials.awsPairs
sandbox.credentials.sigv4 sandbox.allowAppleEvents sandbox.ripgrep pluginConfigs processWrapper
askUserQuestionTimeout dialogExpiry footerLinksRegexes spellcheck vimInsertModeRemaps enableArtifact
sshConfigs
"""

_NOT_PROJECT = """
skipDangerousModePermissionPrompt useAutoModeDuringPlan syncClaudeAiSkills
"""

GLOBAL_KEYS = frozenset(
    {
        "autoConnectIde",
        "autoInstallIdeExtension",
        "diffTool",
        "externalEditorContext",
        "permissionExplainerEnabled",
        "teammateDefaultModel",
    }
)
META_KEYS = frozenset({"$schema"})
DEPRECATED_KEYS = {"includeCoAuthoredBy": "attribution"}

MANAGED_ONLY = frozenset(_MANAGED.split())
USER_OR_MANAGED = frozenset(_USER_OR_MANAGED.split())
NOT_PROJECT = frozenset(_NOT_PROJECT.split())
SETTINGS_KEYS: frozenset[str] = frozenset(_PLAIN.split()) | MANAGED_ONLY | USER_OR_MANAGED | NOT_PROJECT
TOP_LEVEL_KEYS: frozenset[str] = frozenset(key.partition(".")[0] for key in SETTINGS_KEYS)

# Lists that do not join: the highest level that has one counts.
WHOLE_LISTS = frozenset({"fallbackModel"})
MANAGED_FINAL_LISTS = frozenset({"availableModels"})
# Keys whose stricter value wins in any of the named scopes: key -> (value, scopes).
STRICTER: dict[str, tuple[object, tuple[Scope, ...]]] = {
    "disableClaudeAiConnectors": (True, PRECEDENCE),
    "isolatePeerMachines": (True, PRECEDENCE),
    "remoteControlAtStartup": (False, ("project", "local")),
    "useAutoModeDuringPlan": (False, ("managed", "cli", "user", "local")),
    "syncClaudeAiSkills": (False, ("managed", "cli", "user", "local")),
}
# Values that a repository may not choose: key -> (value, scopes where it has no effect).
IGNORED_VALUES: dict[str, tuple[object, tuple[Scope, ...]]] = {
    "permissions.defaultMode": ("auto", ("project", "local")),
}
# What settings files of added directories contribute.
ADDED_DIR_KEYS = frozenset({"enabledPlugins", "extraKnownMarketplaces"})


def scopes_for(key: str) -> tuple[Scope, ...]:
    """The scopes that may set `key` (dotted); all of them for a key without a mark."""
    for end in _prefixes(key):
        if end in MANAGED_ONLY:
            return ("managed",)
        if end in USER_OR_MANAGED:
            return ("managed", "cli", "user")
        if end in NOT_PROJECT:
            return ("managed", "cli", "local", "user")
    return PRECEDENCE


def is_known(key: str) -> bool:
    """True for a documented key, for anything below one, and for the objects above one."""
    if key in META_KEYS or key in TOP_LEVEL_KEYS:
        return True
    return any(end in SETTINGS_KEYS for end in _prefixes(key)) or any(
        known.startswith(key + ".") for known in SETTINGS_KEYS
    )


def _prefixes(key: str) -> list[str]:
    parts = key.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]
