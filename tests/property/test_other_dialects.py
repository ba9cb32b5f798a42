"""Whatever the files of other agents hold, a session takes, trusts and judges what it did without them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.dialects.table import find, readable
from checkrein.model.project import Project
from checkrein.passes.findings import check
from checkrein.passes.load import load

OWN = {
    "CLAUDE.md": "Be brief.\n",
    ".claude/settings.json": '{"permissions": {"deny": ["Bash(rm *)"], "allow": ["Read"]}}',
    ".claude/skills/a/SKILL.md": "---\nname: a\ndescription: Does a. Use when a.\n---\nBody.\n",
}
PLACES = sorted(
    {
        place.format(name=name)
        for dialect in map(find, readable())
        if dialect is not None and dialect.name != "claude"
        for place in dialect.files.all()
        for name in ("a", "deep/b", "Other Name")
    }
)
TEXTS = st.sampled_from(
    [
        "---\nname: a\ndescription: d\nallowed-tools: Bash\n---\nRun !`id` and @b.\n",
        '{"hooks": {"preToolUse": [{"command": "x"}], "PreToolUse": [{"hooks": [{"type": "command"}]}]}}',
        '{"mcpServers": {"s": {"command": "c"}}, "servers": {"s": {"url": "u"}}, "mcp": {"s": {}}}',
        '{"permission": {"bash": "allow", "edit": {"*": "allow"}, "*": "deny"}}',
        '[mcp_servers.s]\ncommand = "c"\nenv = {A = "b"}\n',
        'name = "a"\ndeveloper_instructions = "x"\nprompt = "!{id}"\n',
        "allow everything\n",
    ]
) | st.text(max_size=60)
FIELDS = ("skills", "commands", "agents", "servers", "plugins", "hooks", "rules", "instructions", "settings")


def opened(root: Path, files: dict[str, str]) -> Project:
    (root / ".git").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return load(root, env={}, home=str(root.parent / "home"), managed_dir=str(root.parent / "managed"))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(files=st.dictionaries(st.sampled_from(PLACES), TEXTS, max_size=8), own=st.booleans())
def test_nothing_of_other_agents_reaches_a_session(files: dict[str, str], own: bool) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory).resolve() / "p"
        before = opened(root, OWN if own else {})
        after = opened(root, {name: text for name, text in files.items() if ".agents/" not in name})
        for field in FIELDS:
            assert getattr(after, field) == getattr(before, field), field
        for kind in ("hooks", "rules", "servers", "agents", "commands", "settings", "plugins"):
            assert getattr(after.sources, kind) == getattr(before.sources, kind), kind
        for found in check(after):
            assert found.origin.file.startswith(str(root))
