"""Forms of real projects: what must be found in them, and what once was a false alarm.

`CHECKREIN_CORPUS` names a directory of real projects for the long run. The files below are written in the
forms that were found there; each is loaded as the plugin `tidy`, or as a project.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from checkrein.dialects.codes import CODES
from checkrein.passes.checks.table import checks
from checkrein.passes.findings import check
from checkrein.passes.load import load

PLUGIN = {
    ".claude-plugin/plugin.json": json.dumps({"name": "tidy", "version": "1.0.0", "description": "Tidies."})
}
SKILL = "---\nname: {name}\ndescription: Tidy a folder. Use when it is full.\n{fields}---\n{body}\n"
COMMAND = "---\ndescription: Ship it. Use when tests pass.\n{fields}---\n{body}\n"
AGENT = "---\nname: {name}\ndescription: Use when work waits.\n{fields}---\nYou do it.\n"


def skill(body: str = "Do it.", fields: str = "", name: str = "tidy") -> str:
    return SKILL.format(name=name, fields=fields, body=body)


def command(body: str = "Ship.", fields: str = "") -> str:
    return COMMAND.format(fields=fields, body=body)


def agent(fields: str = "", name: str = "worker") -> str:
    return AGENT.format(name=name, fields=fields)


# What the form is -> (files, the codes that must be found, no more and no less)
FORMS: dict[str, tuple[dict[str, str], set[str]]] = {
    "a skill in a folder of another name": (
        {**PLUGIN, "skills/rules/SKILL.md": skill(name="writing-rules")},
        {"AS006"},
    ),
    "arguments counted from one": (
        {**PLUGIN, "commands/map.md": command("Map `old/$1` and write to `new/$2`.")},
        {"CC013"},
    ),
    "money is no argument": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill("Reach $1M, then $1,500 and $2.5.")},
        set(),
    ),
    "awk in a command": (
        {**PLUGIN, "commands/gone.md": command("```bash\ngit branch -v | awk '{print $1}'\n```")},
        {"CC014"},
    ),
    "the shell whole": (
        {**PLUGIN, "commands/pr.md": command(fields='allowed-tools: ["Bash", "Read"]\n')},
        {"CC007"},
    ),
    "reading needs no approval": (
        {**PLUGIN, "commands/help.md": command(fields='allowed-tools: ["Read"]\n')},
        {"CC006"},
    ),
    "an agent's field in a skill": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill(fields="tools: Read, Bash\n")},
        {"CC003"},
    ),
    "a version of its own": ({**PLUGIN, "skills/tidy/SKILL.md": skill(fields="version: 0.1.0\n")}, {"CC002"}),
    "another agent's mode is no misspelt model": (
        {**PLUGIN, "agents/worker.md": agent("mode: subagent\n")},
        {"CC002"},
    ),
    "names of servers and agents as tools": (
        {**PLUGIN, "agents/worker.md": agent("tools: Read, chrome-mcp, context-manager\n")},
        {"CC021"},
    ),
    "tools of another agent": (
        {**PLUGIN, "agents/worker.md": agent("tools: ['codebase', 'runCommands']\n")},
        {"CC022"},
    ),
    "a type list for subagents": (
        {**PLUGIN, "agents/worker.md": agent("tools: Read, Agent(tidy:explore)\n")},
        {"CC027"},
    ),
    "a colour that is not listed": ({**PLUGIN, "agents/worker.md": agent("color: magenta\n")}, {"CC004"}),
    "a hook without its script": (
        {
            **PLUGIN,
            "hooks/hooks.json": json.dumps(
                {
                    "hooks": {
                        "Stop": [
                            {
                                "hooks": [
                                    {"type": "command", "command": 'bash "${CLAUDE_PLUGIN_ROOT}/hooks/a.sh"'}
                                ]
                            }
                        ]
                    }
                }
            ),
        },
        {"HOOK009"},
    ),
    "the newest package": (
        {**PLUGIN, ".mcp.json": json.dumps({"web": {"command": "npx", "args": ["@acme/web@latest"]}})},
        {"MCP017"},
    ),
    "a plugin's servers are not the project's too": (
        {**PLUGIN, ".mcp.json": json.dumps({"web": {"command": "web-mcp"}})},
        set(),
    ),
    "an agent of the same plugin, with its prefix in the name": (
        {
            ".claude-plugin/marketplace.json": json.dumps(
                {
                    "name": "acme",
                    "owner": {"name": "Acme"},
                    "plugins": [{"name": "tidy", "source": "./tidy", "description": "Tidies."}],
                }
            ),
            "tidy/agents/worker.md": agent(name="tidy-worker"),
            "tidy/commands/go.md": command('Start one: subagent_type: "tidy-worker"'),
        },
        set(),
    ),
    "words that end in sk": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill("Write `2024-task-description-notes.md`.")},
        set(),
    ),
    "options in an example": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill('```json\n{"dir": "${user_config.root}"}\n```')},
        set(),
    ),
    "paths of Windows tools": (
        {
            **PLUGIN,
            "skills/tidy/SKILL.md": skill(
                "```\n.\\.github\\scripts\\run.ps1\n$(Root)\\scripts\\a.targets\n```"
            ),
        },
        set(),
    ),
    "files that only illustrate": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill("For example, `references/finance.md` may hold schemas.")},
        set(),
    ),
    "files that are meant": (
        {**PLUGIN, "skills/tidy/SKILL.md": skill("Read `references/finance.md` first.")},
        {"AS018"},
    ),
    "instructions for other agents only": ({"AGENTS.md": "Run the tests.\n"}, set()),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_found_in_real_projects(tmp_path: Path, form: str) -> None:
    files, codes = FORMS[form]
    root, home = tmp_path / "root", tmp_path / "home"
    home.mkdir()
    (root / ".git").mkdir(parents=True)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, "utf-8")
    found = check(load(root, env={"HOME": str(home)}, home=str(home), managed_dir=str(home / "managed")))
    assert {finding.code for finding in found} == codes, [f"{f.code} {f.message}" for f in found]


@pytest.mark.untraced
@pytest.mark.skipif("CHECKREIN_CORPUS" not in os.environ, reason="CHECKREIN_CORPUS names no directory")
def test_real_projects(tmp_path: Path) -> None:
    known = {**checks(), **CODES}
    roots = [path for path in Path(os.environ["CHECKREIN_CORPUS"]).iterdir() if path.is_dir()]
    assert roots
    for root in roots:
        plugins = (path.parent.parent for path in root.rglob(".claude-plugin/plugin.json"))
        for directory in (root, *plugins):
            project = load(directory, env={"HOME": str(tmp_path)}, home=str(tmp_path))
            for finding in check(project):
                assert finding.code in known
                assert os.path.exists(finding.origin.file)
