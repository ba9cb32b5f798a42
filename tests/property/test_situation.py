"""The laws of a situation, over random projects, trust, modes, hooks and sandboxes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.model.items import Hook, Setting
from checkrein.model.project import Candidate, Detection, Effective, Place, Project, Sources
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.confined import Confined
from checkrein.policy.policy import NEEDS_TRUST
from checkrein.policy.reasons import explain
from checkrein.policy.situation import Terms, situation
from checkrein.policy.trust import Trust, TrustStatus
from checkrein.policy.values import MODES, Call, Decision, rank

FIXED = settings(max_examples=250, derandomize=True, deadline=None)
PLACE = Place(cwd="/p", root="/p", root_reason="git", home="/h", config_dir="/h/.claude")
DETECTION = Detection("claude_code", {}, ())
KEY = "permissions.defaultMode"

RULES = (
    *(
        "Bash",
        "Read",
        "Edit",
        "WebFetch",
        "mcp__s",
        "mcp__*",
        "*",
        "Read(.env)",
        "Edit(src/**)",
        "Read(//etc/**)",
    ),
    *(
        "Bash(rm *)",
        "Bash(git push *)",
        "Bash(git *)",
        "Bash(cat *)",
        "Bash(touch *)",
        "Bash(",
        "Agent(Explore)",
    ),
    *("WebFetch(domain:example.com)", "Skill(deploy *)", "Read(*.pem)", "Bash(run_in_background:true)"),
)
COMMANDS = (
    *("ls", "rm a", "rm -rf /", "git push origin", "git status && rm a", "cat .env", "cat .env > out"),
    *("touch src/x", "echo $(rm a)", "$X a", "bash -c 'git push'", "cd src && touch y", "ls | xargs rm"),
    *("echo 'unclosed", "curl https://example.com"),
)
PATHS = ("/p/a", "/p/.env", "/p/src/x", "/etc/passwd", "~/.ssh/id", "a/../.env", "/p/.git/config")


def _rule(text: str, behavior: str, scope: str) -> Rule:
    origin = Origin("/p/.claude/settings.json", scope)  # type: ignore[arg-type]  # from `scopes` below
    return parse_rule(text, behavior, origin, anchor="/p")  # type: ignore[arg-type]  # from `rules` below


calls = st.one_of(
    st.sampled_from(COMMANDS).map(lambda text: Call("Bash", {"command": text})),
    st.sampled_from(PATHS).map(lambda path: Call("Read", {"file_path": path})),
    st.sampled_from(PATHS).map(lambda path: Call("Write", {"file_path": path, "content": ""})),
    st.sampled_from(
        (
            Call("WebFetch", {"url": "https://example.com/a"}),
            Call("Agent", {"subagent_type": "Explore"}),
            Call("Skill", {"skill": "deploy", "args": "prod"}),
            Call("mcp__s__t", {"x": 1}),
            Call("AskUserQuestion", {}),
            Call("Bash", {"command": "make", "dangerouslyDisableSandbox": True}),
            Call("Unheard", {"x": None}),
        )
    ),
)
scopes = st.sampled_from(("user", "project", "local", "managed"))
rules = st.builds(_rule, st.sampled_from(RULES), st.sampled_from(("allow", "ask", "deny")), scopes)
denies = st.builds(_rule, st.sampled_from(RULES), st.just("deny"), scopes)
hooks = st.builds(
    lambda matcher, condition: Hook(
        name="PreToolUse",
        origin=Origin("/p/.claude/settings.json", "project"),
        type="command",
        command="guard",
        matcher=matcher,
        condition=condition,
    ),
    st.sampled_from((None, "Bash", "Read|Write", "mcp__.*", "(")),
    st.sampled_from((None, "Bash(git *)", "Read(.env)", "Bash(")),
)
terms = st.builds(
    lambda mode, allowed, disallowed, hooks, confined: Terms(
        mode=mode, allowed=tuple(allowed), disallowed=tuple(disallowed), hooks=hooks, confined=confined
    ),
    st.sampled_from((None, *MODES)),
    st.lists(st.sampled_from(RULES), max_size=2),
    st.lists(st.sampled_from(RULES), max_size=1),
    st.booleans(),
    st.builds(lambda *on: Confined(active=on[0], approves=on[1]), st.booleans(), st.booleans()),
)


@st.composite
def projects(draw: st.DrawFn) -> Project:
    """Rules of several scopes, a default mode of the project or the user, hooks."""
    mode, scope = draw(st.sampled_from((None, *MODES))), draw(st.sampled_from(("project", "user")))
    effective: dict[str, Effective] = {}
    if mode is not None:
        item = Setting(name=KEY, value=mode, origin=Origin("/s.json", scope))  # type: ignore[arg-type]
        effective = {KEY: Effective(KEY, mode, (Candidate(item),))}
    return Project(
        place=PLACE,
        detection=DETECTION,
        rules=tuple(draw(st.lists(rules, max_size=6))),
        hooks=tuple(draw(st.lists(hooks, max_size=2))),
        settings=effective,
        sources=Sources(),
    )


def trust_in(project: Project, trusted: bool) -> Trust:
    status = TrustStatus(trusted=trusted, by="nobody", reason="It was never trusted.", root="/p")
    if trusted:
        return Trust(status=status, project=project)
    kept = tuple(
        rule for rule in project.rules if rule.verdict != "allow" or rule.origin.scope not in NEEDS_TRUST
    )
    mode = project.settings.get(KEY)
    own = mode is None or mode.candidates[0].item.origin.scope == "user"
    reduced = replace(project, rules=kept, hooks=(), settings=project.settings if own else {})
    return Trust(status=status, project=reduced, skipped_hooks=project.hooks)


def decided(project: Project, trusted: bool, wished: Terms, call: Call) -> Decision:
    found = situation(project, trust_in(project, trusted), wished)
    return found.decide(call, found.context())


@FIXED
@given(projects(), denies, st.booleans(), terms, calls)
def test_adding_a_deny_to_the_project_never_loosens(
    project: Project, rule: Rule, trusted: bool, wished: Terms, call: Call
) -> None:
    stricter = replace(project, rules=(*project.rules, rule))
    before, after = (decided(one, trusted, wished, call) for one in (project, stricter))
    assert rank(after.verdict) >= rank(before.verdict)
    assert before.offered or not after.offered


@FIXED
@given(projects(), terms, calls)
def test_trust_only_widens(project: Project, wished: Terms, call: Call) -> None:
    without, with_it = (decided(project, trusted, wished, call) for trusted in (False, True))
    strict_default = project.setting(KEY) in ("dontAsk", "plan") and wished.mode is None
    if not strict_default:
        assert rank(without.verdict) >= rank(with_it.verdict)


@FIXED
@given(projects(), st.booleans(), terms, calls)
def test_an_explanation_is_the_decision(project: Project, trusted: bool, wished: Terms, call: Call) -> None:
    found = situation(project, trust_in(project, trusted), wished)
    plain, told = found.decide(call, found.context()), explain(found, call, found.context())
    assert replace(told, notes=()) == plain
    assert found == situation(project, trust_in(project, trusted), wished)
    if any("is not trusted" in note for note in told.notes):
        assert rank(decided(project, True, wished, call).verdict) < rank(told.verdict)
