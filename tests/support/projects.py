"""Projects that several tests use."""

ONE_OF_EVERYTHING = {
    "CLAUDE.md": "# Rules\nUse pnpm. See @docs/style.md\n",
    "docs/style.md": "Short sentences.\n",
    "web/CLAUDE.md": "Only web.\n",
    ".claude/rules/ts.md": '---\npaths: "src/**/*.ts"\n---\nStrict types.\n',
    ".claude/skills/review/SKILL.md": (
        "---\nname: review\ndescription: 'Review: the diff'\nallowed-tools: Read\nmodel: opus\n---\n"
        "Review $ARGUMENTS.\n"
    ),
    ".claude/skills/review/scripts/x.sh": "#!/bin/sh\n",
    ".claude/commands/git/commit.md": "---\ndescription: Commit\n---\nCommit $ARGUMENTS\n",
    ".claude/agents/checker.md": (
        "---\nname: checker\ndescription: Checks\ntools: Read, Bash(git log:*)\nmodel: sonnet\n---\n"
        "You check.\n"
    ),
    ".claude/settings.json": (
        '{"permissions": {"allow": ["Bash(npm test:*)"], "deny": ["Bash(rm:*)"]},\n'
        ' "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./g.sh",'
        ' "timeout": 5}]}]}}\n'
    ),
    ".mcp.json": (
        '{"mcpServers": {"gh": {"command": "npx", "args": ["gh-mcp"],'
        ' "env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnopqrstuvwx1234"}}}}\n'
    ),
}
