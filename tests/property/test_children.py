"""Contract 3: whatever a parent's rules are and whatever a child asks for, the child only narrows."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm.port import Cancel, ToolUse
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.policy.values import MODES, rank
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from support.models import Silent

FIXED = settings(
    max_examples=int(os.environ.get("CHECKREIN_EXAMPLES", "40")), derandomize=True, deadline=None
)

RULES = (
    *(
        "Bash",
        "Read",
        "Edit",
        "Write",
        "Glob",
        "Bash(touch *)",
        "Bash(cat *)",
        "Read(secret.txt)",
        "Read(./**)",
    ),
    *("Edit(src/**)", "Bash(* secret.txt)", "Write(out.txt)", "*", "Bash(rm *)", "mcp__s__*"),
)
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Read", {"file_path": "secret.txt"}),
    ("Read", {"file_path": "plain.txt"}),
    ("Bash", {"command": "cat secret.txt"}),
    ("Bash", {"command": "touch made"}),
    ("Bash", {"command": "cat plain.txt && touch made"}),
    ("Write", {"file_path": "out.txt", "content": "x"}),
    ("Glob", {"pattern": "*"}),
)

rule_lists = st.lists(st.sampled_from(RULES), max_size=3).map(tuple)
permissions = st.fixed_dictionaries({"allow": rule_lists, "ask": rule_lists, "deny": rule_lists})
modes = st.sampled_from((None, *MODES))
children = st.builds(
    lambda allowed, disallowed, mode, bare, hooks: Options(
        allowed=allowed,
        disallowed=disallowed,
        mode=mode,
        bare=bare,
        hooks=hooks,
        allow_bypass=True,
        trust=True,
    ),
    rule_lists,
    rule_lists,
    modes,
    st.booleans(),
    st.booleans(),
)
kinds = st.sampled_from(("helper", "agent"))


def project_with(root: Path, rules: dict[str, tuple[str, ...]]) -> View:
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").write_text(json.dumps({"permissions": rules}))
    (root / "secret.txt").write_text("marigold")
    (root / "plain.txt").write_text("plain")
    return View(load(root, env={}, home=str(root / "home"), detect=False))


def child_of(parent: Session, options: Options, kind: Any) -> Session:
    asked = Child(view=parent.conversation.view, options=options, kind=kind, call="call_1")
    return parent.child(asked)


@FIXED
@given(permissions, modes, st.booleans(), st.lists(children, min_size=1, max_size=2), kinds, rule_lists)
def test_a_child_never_gets_more_than_its_parent(
    rules: dict[str, tuple[str, ...]],
    mode: str | None,
    trust: bool,
    asked: list[Options],
    kind: str,
    later: tuple[str, ...],
) -> None:
    """Over a chain of children, also when the parent loses rights after the child was made."""
    with TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder))
        view = project_with(root, rules)
        own = Options(mode=mode, trust=trust, allow_bypass=True, persist=False)
        with Session(view, model=Silent(), options=own, env={}) as parent:
            chain = [parent]
            for options in asked:
                chain.append(child_of(chain[-1], options, kind))
            _compare(chain, str(root))
            gate = parent.conversation.gate
            gate.tighten(gone=(), added=_denials(later, str(root)))
            _compare(chain, str(root))
            _run(chain, root)
            for session in chain[1:]:
                session.close()


def _denials(texts: tuple[str, ...], cwd: str) -> list[Any]:
    from checkrein.base.origin import Origin
    from checkrein.model.rule import parse_rule

    return [parse_rule(text, "deny", Origin("later", "user"), anchor=cwd) for text in texts]


def _compare(chain: list[Session], cwd: str) -> None:
    for above, below in pairwise(chain):
        for tool, input in CALLS:
            theirs = above.conversation.gate.decide(tool, input, cwd)
            its = below.conversation.gate.decide(tool, input, cwd)
            assert rank(its.verdict) >= rank(theirs.verdict), (tool, input, theirs, its)
        shown = set(above.conversation.host.tools.names())
        assert set(below.conversation.host.tools.names()) <= shown | {"Skill", "ToolSearch"}


def _run(chain: list[Session], root: Path) -> None:
    """What the root refuses has no effect in any child."""
    gate = chain[0].conversation.gate
    for session in chain[1:]:
        for tool, input in CALLS:
            refused = gate.decide(tool, input, str(root)).verdict != "allow"
            before = sorted(path.name for path in root.iterdir())
            done = session.conversation.host.call(ToolUse("call_2", tool, input), Cancel())
            if refused:
                assert done.finished.is_error, (tool, input)
                assert "marigold" not in str(done.finished.content)
                assert sorted(path.name for path in root.iterdir()) == before
