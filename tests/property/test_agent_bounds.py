"""What `why --agent` says is what the gate of that agent decides, and never more than its parent may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from checkrein.base.origin import BUNDLED, Origin
from checkrein.model.rule import parse_rule
from checkrein.passes.agents import AgentType, child_mode
from checkrein.passes.agents.agent_bounds import bounds
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.values import MODES, Call, rank
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.rights import child_situation

ORIGIN = Origin(BUNDLED, "bundled")
RULES = ("Bash(make *)", "Bash(rm *)", "Bash", "Edit(src/**)", "Edit", "Read(.env)", "WebFetch")
CALLS = (
    Call("Bash", {"command": "make x"}),
    Call("Bash", {"command": "make x && rm y"}),
    Call("Bash", {"command": "ls"}),
    Call("Edit", {"file_path": "/p/src/a", "old_string": "a", "new_string": "b"}),
    Call("Write", {"file_path": "/p/b", "content": ""}),
    Call("Read", {"file_path": "/p/.env"}),
    Call("WebFetch", {"url": "https://example.org"}),
)
rules = st.lists(st.tuples(st.sampled_from(RULES), st.sampled_from(("allow", "ask", "deny"))), max_size=4)


@given(
    written=rules,
    mode=st.sampled_from(MODES),
    own=st.sampled_from((None, *MODES)),
    denied=st.lists(st.sampled_from(RULES[:2] + RULES[3:4]), max_size=2),
    call=st.sampled_from(CALLS),
)
def test_the_gate_of_an_agent_agrees(
    written: list[tuple[str, str]], mode: str, own: str | None, denied: list[str], call: Call
) -> None:
    made = [parse_rule(text, verdict, ORIGIN, anchor="/p") for text, verdict in written]  # type: ignore[arg-type]
    parent = Situation(policy=compile_policy(made, mode), root="/p")  # type: ignore[arg-type]
    kind = AgentType(
        name="a",
        description="d",
        body="b",
        permission_mode=own,  # type: ignore[arg-type]
        denied=tuple(denied),
        origin=ORIGIN,
    )
    above = Gate(parent, Control())
    options = Options(mode=child_mode(mode, kind), disallowed=kind.denied)
    gate = Gate(child_situation(above, options, None), Control(), above=above)
    met = bounds(kind, parent)
    said = met.explain(call)
    assert said.verdict == gate.decide(call.tool, dict(call.input), "/p").verdict
    assert met.situation.mode == gate.mode
    assert rank(said.verdict) >= rank(parent.decide(call, parent.context()).verdict)
