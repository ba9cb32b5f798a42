"""In a worktree, whatever is denied above stays denied, for the main checkout and for its copy."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.fences import Fence
from checkrein.policy.isolation import Isolation, isolate
from checkrein.policy.policy import compile_policy, meet
from checkrein.policy.situation import Situation
from checkrein.policy.values import MODES, Call, rank

MAIN, WORKTREE = "/p/main", "/p/main/.claude/worktrees/w"
NAMES = st.lists(st.sampled_from(["a", "src", ".env", "b.txt", "deep"]), min_size=1, max_size=3)
PATHS = NAMES.map("/".join)
PATTERNS = st.one_of(
    PATHS,
    PATHS.map(lambda path: f"./{path}"),
    PATHS.map(lambda path: f"/{path}"),
    PATHS.map(lambda path: f"{path}/**"),
    PATHS.map(lambda path: f"/{path}/*"),
    PATHS.map(lambda path: f"**/{path}"),
    PATHS.map(lambda path: f"/{MAIN}/{path}"),
    PATHS.map(lambda path: f"~/main/{path}"),
    PATHS.map(lambda path: f"//p/m*n/{path}"),
    PATHS.map(lambda path: f"//**/main/{path}"),
    st.sampled_from([".", "*", "**", "/**", "*.txt", ".env*", "src/", f"/{MAIN}/**", "//**", "~", "~/*/a"]),
)
RULES = st.lists(
    st.builds(
        lambda verdict, tool, pattern, root: parse_rule(
            f"{tool}({pattern})", verdict, Origin("/p/main/.claude/settings.json", "user"), anchor=root
        ),
        st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from(["Read", "Edit"]),
        PATTERNS,
        st.sampled_from([MAIN, f"{MAIN}/src"]),
    ),
    max_size=4,
)
ISOLATION = Isolation(
    fences=(Fence(MAIN, "w", (".claude/worktrees/w",), (".claude/worktrees/w/.git",)),),
    checkout=MAIN,
    root=MAIN,
    worktree=WORKTREE,
)


@settings(max_examples=400, deadline=None)
@given(RULES, st.sampled_from(MODES), PATHS, st.sampled_from(["Read", "Edit", "Write"]))
def test_a_worktree_is_never_looser_than_its_checkout(
    rules: list[Rule], mode: str, path: str, tool: str
) -> None:
    policy = compile_policy(rules, mode)  # type: ignore[arg-type]
    above = Situation(policy=policy, root=MAIN, home="/p")
    below = isolate(above, ISOLATION)

    def verdict(situation: Situation, root: str) -> str:
        call = Call(tool, {"file_path": f"{root}/{path}"})
        return situation.decide(call, situation.context(situation.root)).verdict

    main = verdict(above, MAIN)
    assert rank(verdict(below, WORKTREE)) >= rank(main)  # type: ignore[arg-type]
    assert rank(verdict(below, MAIN)) >= rank(main)  # type: ignore[arg-type]
    if tool != "Read":
        assert verdict(below, MAIN) == "deny"


@settings(max_examples=200, deadline=None)
@given(RULES, RULES, PATHS)
def test_it_meets_as_any_policy_does(one: list[Rule], other: list[Rule], path: str) -> None:
    first, second = compile_policy(one), compile_policy(other)
    assert ISOLATION.over(meet(first, second)) == meet(ISOLATION.over(first), ISOLATION.over(second))
    twice = ISOLATION.over(ISOLATION.over(first))
    below = isolate(Situation(policy=first, root=MAIN), ISOLATION)
    again = isolate(Situation(policy=twice, root=MAIN), ISOLATION)
    for root in (MAIN, WORKTREE):
        call = Call("Edit", {"file_path": f"{root}/{path}"})
        assert below.decide(call, below.context()).verdict == again.decide(call, again.context()).verdict
