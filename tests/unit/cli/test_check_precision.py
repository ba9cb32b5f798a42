"""False alarms that real repositories brought, and what other tools found first, on the command line.

A row is a project, and the codes that it must have. A row that must have none has a twin that shows that the
check still fires.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.cli.main import run
from support.files import lay

SKILL = ".claude/skills/review/SKILL.md"
FOLDER = ".claude/skills/review"
AGENT = ".claude/agents/tester.md"
COMMAND = ".claude/commands/ship.md"
SETTINGS = ".claude/settings.json"


def skill(
    body: str, *fields: str, name: str = "review", description: str = "Review a change. Use when asked."
) -> str:
    head = "".join(f"{field}\n" for field in fields)
    return f"---\nname: {name}\ndescription: {description}\n{head}---\n{body}\n"


def agent(body: str, *fields: str, description: str = "Use when tests must run.") -> str:
    head = "".join(f"{field}\n" for field in fields)
    return f"---\nname: tester\ndescription: {description}\n{head}---\n{body}\n"


def hook(command: str, event: str = "PreToolUse") -> object:
    return {"hooks": {event: [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}}


def catalog(**fields: str) -> object:
    entry = {"name": "tidy", "source": {"source": "github", "repo": "acme/tidy"}, **fields}
    return {"name": "acme", "owner": {"name": "Acme"}, "description": "x", "plugins": [entry]}


TEACHES = "Guide for creating skills. Use when a user wants to write a new skill."
FENCES = "````markdown\nSee `references/api.md`.\n````\n"
NESTED = "```markdown\n# Skill\n```bash\nls\n```\nSee [a](docs/API.md) and `scripts/x.sh`.\n```\nDone."

HEADER = "-----BEGIN " + "PRIVATE KEY-----"
ASKS = "#!/usr/bin/env python3\nname = input('Name: ')\n"
ON_DEMAND = "parser.add_argument('--interactive')\n"

CORE = skill("Read `references/tree.md`.", name="core", description="Look at trees. Use when lost.")
ITS_TOOLS = skill("Go.", "allowedTools: [x]")
LESSON = skill('```\nsubagent_type: "scanner"\n```', description="Creating subagents. Use when asked.")
HIDDEN = skill("Go.", "disable-model-invocation: true", "user-invocable: false")
PI_AGENT = agent("Look.", "tools: read, grep, find, ls", "systemPromptMode: replace")

ROWS: dict[str, tuple[dict[str, object], set[str]]] = {
    # AS018: outputs, texts that teach, files of the plugin and the project.
    "a missing reference": ({SKILL: skill("Follow `references/style.md`.")}, {"AS018"}),
    "a missing link": ({SKILL: skill("Follow [it](references/style.md).")}, {"AS018"}),
    "an output": (
        {SKILL: skill("Write the result to `assets/report.md`.\nThen open `assets/report.md`.")},
        set(),
    ),
    "an output of a command": (
        {SKILL: skill("```bash\nrun > assets/out.json\n```\nRead `assets/out.json`.")},
        set(),
    ),
    "a file of a skill that the paragraph names": (
        {
            SKILL: skill("The skill `/core` has the tree of each,\nin `references/tree.md`."),
            ".claude/skills/core/SKILL.md": CORE,
            ".claude/skills/core/references/tree.md": "x",
        },
        set(),
    ),
    "a file of a skill that another paragraph names": (
        {
            SKILL: skill("See also `/core`.\n\nFollow `references/tree.md`."),
            ".claude/skills/core/SKILL.md": CORE,
            ".claude/skills/core/references/tree.md": "x",
        },
        {"AS018"},
    ),
    "what a task of the project runs": (
        {SKILL: skill("```bash\ncd web && npm run demo\n```\n\nThis runs `scripts/demo.mjs`, which waits.")},
        set(),
    ),
    "what a script of the skill runs": (
        {SKILL: skill("Read the notes. This runs `scripts/demo.mjs`, which waits.")},
        {"AS018"},
    ),
    "an output of an option": (
        {SKILL: skill("Embed `assets/fig.png`.\n\n```bash\nchrome --screenshot=assets/fig.png x.html\n```")},
        set(),
    ),
    "where an output goes": ({SKILL: skill("The picture goes to `assets/fig.png`.")}, set()),
    "a name to fill in": ({SKILL: skill("Read the `references/xxx.md` of the row.")}, set()),
    "a file of the project at work": (
        {SKILL: skill("Sync when the repository root contains `scripts/sync.js`.")},
        set(),
    ),
    "a file that the project packs": (
        {SKILL: skill("**`package.json` `files[]`:** add `scripts/sync.js` and the others.")},
        set(),
    ),
    "a file of the repository alone": ({SKILL: skill("It is repo-local (`scripts/leg.sh` runs it).")}, set()),
    "a page of a theme": ({SKILL: skill("`templates/page.html` renders the title.")}, set()),
    "a page of the skill": (
        {SKILL: skill("Fill `templates/page.html`, then templates/b.md."), f"{FOLDER}/templates/b.md": "x"},
        {"AS018"},
    ),
    "a link to a page": ({SKILL: skill("Fill [it](templates/page.html).")}, {"AS018"}),
    "a project of which nothing is said": (
        {SKILL: skill("In a repository, run `scripts/sync.js`.")},
        {"AS018"},
    ),
    "where a reader goes": ({SKILL: skill("Go to `references/more.md`.")}, {"AS018"}),
    "a file that users make": ({SKILL: skill("Check that `templates/mail/.env` has a key.")}, set()),
    "a template for an output": ({SKILL: skill("Create the plan from `assets/plan.md`.")}, {"AS018"}),
    "a text that teaches": ({SKILL: skill("Put it in `references/api.md`.", description=TEACHES)}, set()),
    "a teacher with the folder": (
        {
            SKILL: skill("Read `references/api.md`.", description=TEACHES),
            f"{FOLDER}/references/README.md": "x",
        },
        {"AS018"},
    ),
    "a fence in a fence": ({SKILL: skill(NESTED)}, set()),
    "a fence of four": ({SKILL: skill(FENCES)}, set()),
    "an example": ({SKILL: skill("Name files like `references/x.md`.")}, set()),
    "below examples": ({SKILL: skill("## Examples\n\nRead `references/x.md`.\n")}, set()),
    "after examples": ({SKILL: skill("## Examples\n\n## Steps\n\nRead `references/x.md`.\n")}, {"AS018"}),
    "a file of the project": ({SKILL: skill("Run `scripts/x.sh`."), "scripts/x.sh": "#!/bin/sh\n"}, set()),
    "a link in code": ({SKILL: skill("Write links as `[text](references/name.md)`.")}, set()),
    # AS019: files of a nested skill.
    "a file behind a file": (
        {
            SKILL: skill("See [a](references/aa.md)."),
            f"{FOLDER}/references/aa.md": "See [b](bb.md).",
            f"{FOLDER}/references/bb.md": "B.",
        },
        {"AS019"},
    ),
    "a file of a nested skill": (
        {
            SKILL: skill("See [a](parts/a/SKILL.md) and [c](parts/a/cc.md)."),
            f"{FOLDER}/parts/a/SKILL.md": skill("See [b](b.md).", name="a"),
            f"{FOLDER}/parts/a/b.md": "B.",
            f"{FOLDER}/parts/a/cc.md": "See [b](b.md).",
        },
        set(),
    ),
    # AS020: links and mentions are not starts.
    "a script that is started": (
        {SKILL: skill("```bash\n./scripts/x.sh --all\n```"), f"{FOLDER}/scripts/x.sh": "echo\n"},
        {"AS020"},
    ),
    "a script in a sentence": (
        {SKILL: skill("Run `./scripts/x.sh`."), f"{FOLDER}/scripts/x.sh": "echo\n"},
        {"AS020"},
    ),
    "a text with a dot": (
        {SKILL: skill("Read fully and follow: `./steps/one.md`."), f"{FOLDER}/steps/one.md": "One.\n"},
        set(),
    ),
    "a link with a dot": ({SKILL: skill("See [one](./one.md)."), f"{FOLDER}/one.md": "One.\n"}, set()),
    "a script after its interpreter": (
        {SKILL: skill("```bash\nbash ./scripts/x.sh\n```"), f"{FOLDER}/scripts/x.sh": "echo\n"},
        set(),
    ),
    "a file from another skill": (
        {SKILL: skill("Consult the [guide](reference/space.md) from the design skill for more.")},
        set(),
    ),
    "a path from another skill": ({SKILL: skill("Read `references/x.md` of the `core` skill.")}, set()),
    "a file of this skill": (
        {SKILL: skill("Consult the [guide](reference/space.md) of the work.")},
        {"AS018"},
    ),
    "where a text comes from": ({SKILL: skill("Source: `examples/app/route.ts`")}, set()),
    "a template of an agent": (
        {"templates/agents/tester.md": agent("Go.", "tools: Read, {{SEARCH}}")},
        set(),
    ),
    "a script to implement": ({SKILL: skill("Implement it as a script (`scripts/probe.py`).")}, set()),
    # AS006
    "another name": ({SKILL: skill("Go.", name="reviews")}, {"AS006"}),
    "a variant of a skill": ({"skills/review/codex/SKILL.md": skill("Go.")}, set()),
    # AS023
    "a template": ({SKILL: skill("Go.", description="'TODO: say what it does. Use when asked.'")}, {"AS023"}),
    "about marks": (
        {SKILL: skill("Go.", description="Lists marks (TODO/FIXME/HACK). Use when asked.")},
        set(),
    ),
    "about todos": ({SKILL: skill("Go.", description="Keep a task as todo. Use when asked.")}, set()),
    # IMP001
    "a missing import": ({"CLAUDE.md": "Follow @style.md and @docs/rules.md.\n"}, {"IMP001"}),
    "a decorator": ({"CLAUDE.md": "Each cell:\n\n@app.cell\ndef _(): pass\n"}, set()),
    # CC042
    "a timeout": ({SETTINGS: {"env": {"BASH_DEFAULT_TIMEOUT_MS": "600000"}}}, set()),
    "a start file": ({SETTINGS: {"env": {"BASH_ENV": "/tmp/x"}}}, {"CC042"}),
    # XP019
    "an agent of another place": (
        {SKILL: skill('Start it with `subagent_type: "history-analyzer"`.')},
        set(),
    ),
    "an agent that is missing": (
        {SKILL: skill('Start it with `subagent_type: "history-analyzer"`.'), AGENT: agent("Test.")},
        {"XP019"},
    ),
    # AS021
    "a path with backslashes": ({SKILL: skill("Read `references\\style.md`.")}, {"AS021"}),
    "how not to write a path": ({SKILL: skill("Use forward slashes, not `scripts\\x.py`.")}, set()),
    # AS025
    "a script that asks": (
        {SKILL: skill("Run `python scripts/x.py`."), f"{FOLDER}/scripts/x.py": ASKS},
        {"AS025"},
    ),
    "a script that asks on demand": (
        {SKILL: skill("Run `python scripts/x.py`."), f"{FOLDER}/scripts/x.py": ASKS + ON_DEMAND},
        set(),
    ),
    "a script that the skill tells to ask": (
        {
            SKILL: skill("Run `python scripts/x.py --interactive`."),
            f"{FOLDER}/scripts/x.py": ASKS + ON_DEMAND,
        },
        {"AS025"},
    ),
    # AS022
    "a licence by address": ({SKILL: skill("Go.", "license: https://localhost/LICENSE.txt")}, set()),
    "a licence file": ({SKILL: skill("Go.", "license: See LICENSE.txt")}, {"AS022"}),
    "a licence of the project": (
        {SKILL: skill("Go.", "license: See LICENSE.txt"), "LICENSE.txt": "MIT"},
        set(),
    ),
    # CC012, CC013
    "arguments in an agent": ({AGENT: agent("Run the tests of $ARGUMENTS.")}, {"CC012"}),
    "arguments in code": ({AGENT: agent("Commands get `$ARGUMENTS`.\n```\nFix $ARGUMENTS\n```")}, set()),
    "arguments of commands": ({AGENT: agent("A slash command reads its input as $ARGUMENTS.")}, set()),
    "a builder of commands": (
        {AGENT: agent("{Action} on: $ARGUMENTS", description="Use when creating slash commands.")},
        set(),
    ),
    "the first argument": ({COMMAND: skill("Fix issue $1 on branch $2.")}, {"CC017", "CC013"}),
    "money": ({COMMAND: "---\ndescription: Plan.\n---\nIt costs $1/month, or $1–$5 per seat.\n"}, set()),
    "more money": ({COMMAND: "---\ndescription: Plan.\n---\nA token is $1 each.\n"}, set()),
    "the first argument of a skill": (
        {SKILL: skill("Fix issue $1 on branch $2.", "argument-hint: issue branch")},
        {"CC013"},
    ),
    "a skill that says argument": ({SKILL: skill("The first argument, `$1`, is the issue.")}, {"CC013"}),
    "design tokens": ({SKILL: skill("| `$1` | 4px |\n| `$2` | 8px |")}, set()),
    "a price in a skill": ({SKILL: skill("Buy both when their sum drops below $1. Then wait.")}, set()),
    "a query's parameters": (
        {COMMAND: "---\ndescription: Review.\n---\nAll SQL uses `$1` and `$2`.\n"},
        set(),
    ),
    # CC014
    "awk with arguments": (
        {COMMAND: "---\ndescription: Plan.\n---\nFor $ARGUMENTS:\n```bash\nps | awk '{print $1}'\n```\n"},
        {"CC014"},
    ),
    "awk in a skill without arguments": ({SKILL: skill("```bash\nps | awk '{print $1}'\n```")}, set()),
    # MEM010
    "a secret": ({"CLAUDE.md": "Use ghp_k7Wq2ZtR9vLm4XsB8nHc1YpD6fGj.\n"}, {"MEM010"}),
    "a pattern for keys": ({"CLAUDE.md": "Find `(postgres|mysql)://[^:]+:[^@]+@[^\\s]+`.\n"}, set()),
    "a pattern for tokens": ({"CLAUDE.md": "Find `ghp_[A-Za-z0-9]{36}`.\n"}, set()),
    "a demo token": ({"CLAUDE.md": "Use ghp_1234567890abcdefghijklmnopqrstuv.\n"}, set()),
    "a demo account": ({"CLAUDE.md": "Open mysql://app:secret@db.internal/app.\n"}, set()),
    "a real account": ({"CLAUDE.md": "Open mysql://app:q8Xw2vTz7K@db.internal/app.\n"}, {"MEM010"}),
    "an account with a gap": ({"CLAUDE.md": "Open postgres://app:[pass]@db.internal/app.\n"}, set()),
    "an account in words": ({"CLAUDE.md": "Open postgres://app:db-password@db.internal/app.\n"}, set()),
    "the form of a key": ({SKILL: skill(f"```yaml\nkey: |\n  {HEADER}\n  ...\n```")}, set()),
    "a key": ({SKILL: skill(f"```yaml\nkey: |\n  {HEADER}\n  {'MIIEvQ' + 'b2Vf' * 9}\n```")}, {"MEM010"}),
    "a key in one line": ({SKILL: skill(f'"{HEADER}\\n{"MIIEvQ" + "b2Vf" * 9}"')}, {"MEM010"}),
    # PL008
    "a reserved marketplace": (
        {".claude-plugin/marketplace.json": {"name": "agent-skills", "owner": {"name": "Me"}, "plugins": []}},
        {"PL008"},
    ),
    "an imitation": (
        {
            ".claude-plugin/marketplace.json": {
                "name": "claude-plugins-official2",
                "owner": {"name": "Me"},
                "plugins": [],
            }
        },
        {"PL008"},
    ),
    "an official one": (
        {
            ".claude-plugin/marketplace.json": {
                "name": "anthropic-tools",
                "owner": {"name": "Me"},
                "plugins": [],
            }
        },
        {"PL008"},
    ),
    "the owner": (
        {
            ".claude-plugin/marketplace.json": {
                "name": "agent-skills",
                "owner": {"name": "Anthropic"},
                "plugins": [],
            }
        },
        set(),
    ),
    "a reserved plugin": (
        {".claude-plugin/plugin.json": {"name": "inline", "version": "1.0.0", "description": "x"}},
        {"PL008"},
    ),
    # AS006: folders that are not a skill's.
    "a skill among other files": ({"pkg/data/SKILL.md": skill("Go."), "pkg/data/x.json": "{}"}, set()),
    "a skill among skills": (
        {"pkg/core/SKILL.md": CORE, "pkg/core/references/tree.md": "x", "pkg/b/SKILL.md": skill("Go.")},
        {"AS006"},
    ),
    # AS013
    "a step before others": ({SKILL: skill("Go.", description="Build the graph. Run this first.")}, set()),
    "no word of when": ({SKILL: skill("Go.", description="Builds and updates the graph.")}, {"AS013"}),
    # XP019
    "agents of a lesson": (
        {
            AGENT: agent("Test."),
            SKILL: skill(
                '```\nsubagent_type: "scanner"\n```', description=TEACHES.replace("skill", "subagent")
            ),
        },
        set(),
    ),
    "an agent that is not there": (
        {AGENT: agent("Test."), SKILL: skill('Start subagent_type: "scanner".')},
        {"XP019"},
    ),
    # XP008
    "a command that leads to a skill of the standard": (
        {"skills/ship/SKILL.md": skill("Go.", name="ship"), COMMAND: "Read skills/ship/SKILL.md.\n"},
        set(),
    ),
    "a command behind a skill": (
        {".claude/skills/ship/SKILL.md": skill("Go.", name="ship"), COMMAND: "Ship it.\n"},
        {"XP008"},
    ),
    # Packages of other agents.
    "agents in a package for Pi": (
        {"package.json": {"pi": {"extensions": ["./x.ts"]}}, "agents/tester.md": PI_AGENT},
        set(),
    ),
    "agents in another package": (
        {"package.json": {"name": "x"}, "agents/tester.md": PI_AGENT},
        {"CC002", "CC022"},
    ),
    "agents in a plugin that Pi takes too": (
        {
            "package.json": {"pi": {"extensions": ["./x.ts"]}},
            ".claude-plugin/plugin.json": {"name": "x", "version": "1.0.0", "description": "x"},
            "agents/tester.md": PI_AGENT,
        },
        {"CC002", "CC022"},
    ),
    "skills in a package for Pi": (
        {"package.json": {"pi": {"skills": ["./skills"]}}, "skills/review/SKILL.md": ITS_TOOLS},
        set(),
    ),
    "skills in a package for OpenClaw": (
        {"package.json": {"openclaw": {"extensions": []}}, "skills/review/SKILL.md": ITS_TOOLS},
        set(),
    ),
    "skills in a package that a section only mentions": (
        {"package.json": {"openclaw": True}, "skills/review/SKILL.md": ITS_TOOLS},
        {"CC001"},
    ),
    "skills in a package that names an agent": (
        {"package.json": {"name": "oh-my-kimi"}, "skills/review/SKILL.md": ITS_TOOLS},
        set(),
    ),
    "skills in a package that names Claude too": (
        {"package.json": {"name": "@kimi/for-claude"}, "skills/review/SKILL.md": ITS_TOOLS},
        {"CC001"},
    ),
    "skills in the package of an agent": (
        {
            "package.json": {"bin": {"qwen": "cli.js"}},
            "bundled/review/SKILL.md": skill("Go.", "allowedTools: [x]"),
        },
        set(),
    ),
    "skills in a package of something else": (
        {
            "package.json": {"bin": {"x": "cli.js"}},
            "bundled/review/SKILL.md": skill("Go.", "allowedTools: [x]"),
        },
        {"CC001"},
    ),
    "a package.json that is a trap": (
        {SETTINGS: hook("npx tidy .", "PostToolUse"), "package.json": "[" * 100_000},
        {"XP024"},
    ),
    # AS017
    "a section of metadata for one agent": (
        {SKILL: skill("Go.", "metadata:", "  openclaw: {emoji: x}")},
        set(),
    ),
    "a map in metadata": ({SKILL: skill("Go.", "metadata:", "  tags: {emoji: x}")}, {"AS017"}),
    # Keys that are almost a known one.
    "a key beside the known one": (
        {".claude-plugin/marketplace.json": catalog(description="x", descriptionZh="x")},
        set(),
    ),
    "a key instead of the known one": (
        {".claude-plugin/marketplace.json": catalog(descriptionn="x")},
        {"PL024"},
    ),
    "a field beside the known one": ({SKILL: skill("Go.", "description_zh: x")}, {"CC002"}),
    # Templates.
    "a plugin with places to fill": (
        {
            "templates/.claude-plugin/plugin.json": {"name": "{{NAME}}"},
            "templates/.codex-plugin/plugin.json": {"name": "{{NAME}}"},
        },
        set(),
    ),
    "a plugin that speaks of places to fill": (
        {"more/.codex-plugin/plugin.json": {"name": "x", "description": "{{x}}", "skills": "./none"}},
        {"DIA003"},
    ),
    "a plugin with a wrong name": ({"more/.claude-plugin/plugin.json": {"name": "A B"}}, {"PL001", "PL014"}),
    # MEM003
    "the same text for both": (
        {"CLAUDE.md": "Use short names.\n", "AGENTS.md": "Use short names.\n"},
        set(),
    ),
    "another text for others": ({"CLAUDE.md": "Use short names.\n", "AGENTS.md": "Test.\n"}, {"MEM003"}),
    # CC009
    "a hidden skill that another reads": (
        {SKILL: HIDDEN, COMMAND: "Read and follow `skills/review/SKILL.md`.\n"},
        set(),
    ),
    "a hidden skill": ({SKILL: HIDDEN, COMMAND: "Review it.\n"}, {"CC009"}),
    # HOOK019
    "a guard that exits with 1": (
        {
            SETTINGS: hook('bash "$CLAUDE_PROJECT_DIR"/g.sh'),
            "g.sh": "#!/bin/sh\nif grep -q rm; then\n  echo Blocked >&2\n  exit 1\nfi\n",
        },
        {"HOOK019"},
    ),
    "a finder of interpreters": (
        {
            SETTINGS: hook('bash "$CLAUDE_PROJECT_DIR"/g.sh x.py'),
            "g.sh": '#!/bin/sh\nfor p in python3 python; do\n  command -v $p && exec $p "$@"\ndone\n'
            "echo No python found >&2\nexit 1\n",
        },
        set(),
    ),
    "a finder of scripts in one line": (
        {SETTINGS: hook('[ -f x.py ] || { echo "demo: scripts not found" >&2; exit 1; }; python3 x.py')},
        set(),
    ),
    "a guard in one line that also lacks": (
        {SETTINGS: hook("command -v jq || exit 1; " + ":; " * 40 + "grep -q 'rm -rf' && exit 1")},
        {"HOOK019"},
    ),
    # Recall.
    "a display name": ({AGENT: agent("Test.", "model: Claude Sonnet 4.5")}, {"CC005"}),
    "an unknown model": ({AGENT: agent("Test.", "model: turbo-9")}, {"CC005"}),
    "an id": ({AGENT: agent("Test.", "model: claude-sonnet-4-5-20250929")}, set()),
    "a model of a cloud": (
        {AGENT: agent("Test.", "model: us.anthropic.claude-opus-4-1-20250805-v1:0")},
        set(),
    ),
    "a script that waits": (
        {
            SKILL: skill("Run `bash scripts/x.sh`."),
            f"{FOLDER}/scripts/x.sh": "#!/bin/sh\nread -rp 'Name? ' n\n",
        },
        {"AS025"},
    ),
    "a Python script that waits": (
        {SKILL: skill("Run `python scripts/x.py`."), f"{FOLDER}/scripts/x.py": "name = input('Name? ')\n"},
        {"AS025"},
    ),
    "a script that looks for a terminal": (
        {
            SKILL: skill("Run `bash scripts/x.sh`."),
            f"{FOLDER}/scripts/x.sh": "#!/bin/sh\n[ -t 0 ] && read -p 'N' n\n",
        },
        set(),
    ),
    "a script that reads lines": (
        {
            SKILL: skill("Run `bash scripts/x.sh`."),
            f"{FOLDER}/scripts/x.sh": "#!/bin/sh\nwhile read -r l; do :; done\n",
        },
        set(),
    ),
    "a file nobody names": ({SKILL: skill("Go."), f"{FOLDER}/references/guide.md": "x"}, {"AS026"}),
    "a folder that is named": (
        {SKILL: skill("Read all of `references/`."), f"{FOLDER}/references/guide.md": "x"},
        set(),
    ),
    "a module of a script": (
        {
            SKILL: skill("Run `python scripts/main.py`."),
            f"{FOLDER}/scripts/main.py": "import shapes\n",
            f"{FOLDER}/scripts/shapes.py": "X = 1\n",
        },
        set(),
    ),
    "a home path": ({"CLAUDE.md": "Read /Users/ada/notes.md first.\n"}, {"XP023"}),
    "a home path in a hook": ({SETTINGS: hook("/home/ada/bin/guard")}, {"XP023"}),
    "a home path of nobody": (
        {"CLAUDE.md": "Read /Users/yourname/notes.md or /home/runner/work/x.\n"},
        set(),
    ),
    "an unpinned program in a hook": ({SETTINGS: hook("npx prettier --check .", "PostToolUse")}, {"XP024"}),
    "a pinned program": ({SETTINGS: hook("npx prettier@3.1.0 --check .", "PostToolUse")}, set()),
    "a program of the project": (
        {
            SETTINGS: hook("npx prettier --check .", "PostToolUse"),
            "package.json": {"devDependencies": {"prettier": "3"}},
        },
        set(),
    ),
    "a lesson about npx": ({SKILL: skill("## bunx\n\n```bash\nbunx tidy\n```")}, set()),
    "after a lesson about npx": (
        {SKILL: skill("## bunx\n\nIt fetches.\n\n## Steps\n\n```bash\nbunx tidy\n```")},
        {"XP024"},
    ),
    "an unpinned program in a skill": ({SKILL: skill("```bash\nuvx tidy --all\n```")}, {"XP024"}),
    "a Codex manifest": ({".codex-plugin/plugin.json": {"name": "x", "skills": "./nowhere"}}, {"DIA003"}),
    "a broken Codex manifest": ({".codex-plugin/plugin.json": "{"}, {"DIA003"}),
    "a leaky deny": ({SETTINGS: {"permissions": {"deny": ["Bash(rm -rf *)"]}}}, {"PERM017"}),
    "a leaky deny of a file": ({SETTINGS: {"permissions": {"deny": ["Read(./.env)"]}}}, {"PERM017"}),
    "all spellings": (
        {
            SETTINGS: {
                "permissions": {
                    "deny": ["Bash(rm -rf *)", "Bash(rm -fr *)", "Bash(rm -r -f *)", "Bash(rm -f -r *)"]
                }
            }
        },
        set(),
    ),
    "both files": ({SETTINGS: {"permissions": {"deny": ["Read(./.env)", "Read(./.env.*)"]}}}, set()),
    "a rule that a sibling makes dead": (
        {SETTINGS: {"permissions": {"deny": ["Bash(git *)"], "allow": ["Bash(git status *)"]}}},
        {"PERM005"},
    ),
    "an agent of another product": ({AGENT: agent("Test.", "tools: [codebase, runCommands]")}, {"CC022"}),
    "a list of another product": ({AGENT: agent("Test.", "tools: [Read, codebase]")}, {"CC044"}),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_row(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, codes = ROWS[row]
    lay(tmp_path / "p", {".git/": None, **files})
    for script in (tmp_path / "p").rglob("x.sh"):
        script.chmod(0o644)
    monkeypatch.chdir(tmp_path / "p")
    run(["check", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert {one["code"] for one in found} == codes, [one["message"] for one in found]


@pytest.mark.project({"CLAUDE.md": "", "AGENTS.md": "Be brief. Keep `@CLAUDE.md` current.\n"}, inside=".")
def test_a_link_to_itself_imports_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert run(["check", "--select", "MEM008"]) == 0
    capsys.readouterr()


@pytest.mark.project({SKILL: skill("\n\n" + "Step.\n" * 501)}, inside=".")
def test_a_finding_about_a_body_stands_at_its_first_words(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", "--format", "json"])
    (one,) = json.loads(capsys.readouterr().out)["findings"]
    assert (one["code"], one["origin"]["span"]["line"]) == ("AS009", 7)


@pytest.mark.project(
    {AGENT: "---\nname: tester\ndescription: Use when:\n  one: two\n three\ncolor: teal\n---\nTest.\n"},
    inside=".",
)
def test_a_place_after_a_repair_is_the_line_of_the_field(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", "--select", "CC004", "--format", "json"])
    (one,) = json.loads(capsys.readouterr().out)["findings"]
    assert one["origin"]["span"]["line"] == 6


@pytest.mark.project(
    {
        ".claude-plugin/plugin.json": {"name": "tidy", "version": "1.0.0", "description": "x"},
        "hooks/hooks.json": hook("bash ${CLAUDE_PLUGIN_ROOT}/x.sh"),
        "x.sh": "#!/bin/sh\n",
    },
    inside=".",
)
def test_the_advice_in_a_plugin_names_the_plugins_root(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", "--select", "HOOK018", "--format", "json"])
    (one,) = json.loads(capsys.readouterr().out)["findings"]
    assert one["hint"] == 'Write `"${CLAUDE_PLUGIN_ROOT}/x.sh"`.'


@pytest.mark.project(
    {
        "collection/a/SKILL.md": skill(
            "Start @agent-nobody. Use `mcp__x__y`.", "allowed-tools: mcp__x__y", name="a"
        ),
        "templates/app/.claude/rules/py.md": '---\npaths: "**/*.zig"\n---\nShort.\n',
    },
    inside=".",
)
def test_a_part_of_a_tree_lacks_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--fail-on", "info"]) == 0
    assert "Examined 1 skill, 1 instruction" in capsys.readouterr().out
