"""Names of tools in other products' files, for lists where Claude Code expects its own."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Product -> names that only it uses, or that differ from ours by more than case.
FOREIGN_TOOLS: dict[str, frozenset[str]] = {
    "Copilot": _words(
        """
        search execute web todo todos codebase editFiles createFile createDirectory runCommands runTasks
        runInTerminal runTests runNotebooks runSubagent fetch githubRepo usages problems changes testFailure
        terminalLastCommand terminalSelection getTerminalOutput vscodeAPI extensions openSimpleBrowser
        findTestFiles searchResults think newWorkspace new getErrors readFile listDirectory fileSearch
        textSearch applyPatch insertEdit ask_user sql fetch_copilot_cli_documentation shell custom-agent
        """
    ),
    "Gemini CLI": _words(
        """
        run_shell_command read_file write_file replace grep_search search_file_content list_directory
        read_many_files google_web_search web_fetch save_memory write_todos
        """
    ),
    "Codex": _words("apply_patch update_plan local_shell view_image"),
    "Cline": _words(
        """
        execute_command write_to_file replace_in_file search_files list_files list_code_definition_names
        browser_action use_mcp_tool access_mcp_resource ask_followup_question attempt_completion
        """
    ),
    "Cursor": _words("codebase_search run_terminal_cmd edit_file delete_file file_search list_dir"),
}

# Product -> frontmatter fields that mark a file as its own.
FOREIGN_AGENT_FIELDS: dict[str, frozenset[str]] = {
    "Copilot": _words("handoffs target mcp-servers infer"),
    "opencode": _words("temperature top_p permission steps maxSteps"),
}


def product_of(tool: str) -> str | None:
    """The product that has a tool of this name; `server/tool` is Copilot's way to name a server's tools."""
    for product, names in FOREIGN_TOOLS.items():
        if tool in names:
            return product
    server, slash, name = tool.partition("/")
    return "Copilot" if slash and server and name and "/" not in name else None
