"""The laws of decisions: pure and total, deny over ask over allow, meet only narrows, trust only widens."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Directory, Policy, compile_policy, meet
from checkrein.policy.values import MODES, Call, Context, HookVerdict, rank

FIXED = settings(max_examples=250, derandomize=True, deadline=None)

WORDS = """
    Bash Read Edit Write WebFetch Agent Skill mcp__s mcp__s__* mcp__* * B* Bash(rm:*) Read(.env) Edit(src/**)
    Read(./secrets/**) Read(//etc/**) Edit(/docs/**) WebFetch(domain:example.com) WebFetch(domain:*.org)
    Agent(Explore) Agent(model:opus) Skill(deploy:*) Read(~/.ssh/**) Read(*.pem) Edit(**) Bash( Read(!x)
    Bash(ls*) Bash(run_in_background:true)
"""
RULES = (
    *WORDS.split(),
    *("Bash(rm *)", "Bash(git push *)", "Bash(git * main)", "Bash(npm run build)", "Bash(* --force)"),
    *("Bash(cat *)", "Bash(touch *)", "Skill(deploy *)"),
)
COMMANDS = (
    "ls",
    "rm a",
    "rm -rf /",
    "git push origin main",
    "git status && rm a",
    "npm run build",
    "cat .env",
    "cat secrets/k > out",
    "touch src/x",
    "echo $(rm a)",
    "$X a",
    "bash -c 'git push'",
    "cd src && touch y",
    "cat /etc/passwd",
    "ls | xargs rm",
    "echo 'unclosed",
    "python3 -c 'print(1)'",
    "curl https://example.com",
    "cat *",
    "for f in a .env; do cat $f; done",
)
PATHS = (
    *("/p/a", "/p/.env", "/p/src/x", "/p/secrets/k", "/etc/passwd", "~/.ssh/id", "a/../.env"),
    "/p/.git/config",
)


def _rule(text: str, behavior: str, scope: str) -> Rule:
    origin = Origin("/p/.claude/settings.json", scope)  # type: ignore[arg-type]  # from SCOPES below
    return parse_rule(text, behavior, origin, anchor="/p")  # type: ignore[arg-type]  # from VERDICTS below


SCOPES = st.sampled_from(("user", "project", "managed"))
rules = st.builds(_rule, st.sampled_from(RULES), st.sampled_from(("allow", "ask", "deny")), SCOPES)
denies = st.builds(_rule, st.sampled_from(RULES), st.just("deny"), SCOPES)
asks = st.builds(_rule, st.sampled_from(RULES), st.just("ask"), SCOPES)
modes = st.sampled_from(MODES)
policies = st.builds(
    lambda rules, mode, scope, dirs: compile_policy(
        rules, mode, mode_scope=scope, directories=[Directory(one, "project") for one in dirs]
    ),
    st.lists(rules, max_size=6),
    modes,
    SCOPES,
    st.lists(st.sampled_from(("/etc", "/opt/x")), max_size=1),
)
calls = st.one_of(
    st.builds(
        lambda text, back: Call("Bash", {"command": text, **({"run_in_background": True} if back else {})}),
        st.sampled_from(COMMANDS),
        st.booleans(),
    ),
    st.builds(lambda path: Call("Read", {"file_path": path}), st.sampled_from(PATHS)),
    st.builds(lambda path: Call("Write", {"file_path": path, "content": ""}), st.sampled_from(PATHS)),
    st.builds(lambda path: Call("Grep", {"pattern": "x", "path": path}), st.sampled_from(PATHS)),
    st.sampled_from(
        (
            Call("WebFetch", {"url": "https://example.com/a"}),
            Call("WebFetch", {"url": "http://127.0.0.1/"}),
            Call("Agent", {"subagent_type": "Explore", "model": "opus"}),
            Call("Skill", {"skill": "deploy", "args": "prod"}),
            Call("mcp__s__t", {"x": 1}),
            Call("AskUserQuestion", {}),
            Call("Bash", {}),
            Call("Unheard", {"x": None}),
        )
    ),
)
contexts = st.builds(
    lambda trusted, linked: Context(
        cwd="/p", root="/p", home="/h", trusted=trusted, links={"/p/a": "/etc/passwd"} if linked else {}
    ),
    st.booleans(),
    st.booleans(),
)
hook_lists = st.lists(
    st.builds(HookVerdict, st.sampled_from(("allow", "ask", "deny", "defer"))), max_size=2
).map(tuple)


@FIXED
@given(policies, calls, contexts, hook_lists)
def test_a_decision_is_repeatable_and_whole(
    policy: Policy, call: Call, context: Context, hooks: tuple[HookVerdict, ...]
) -> None:
    first = decide(policy, call, context, hooks=hooks)
    assert first == decide(policy, call, context, hooks=hooks)
    assert first.reason
    assert first.trace
    worst = max(rank(piece.verdict) for piece in first.trace)
    assert rank(first.verdict) >= worst


def _with(policy: Policy, *added: Rule) -> Policy:
    layer = policy.layers[0]
    return compile_policy(
        (*layer.rules, *added), layer.mode, mode_scope=layer.mode_scope, directories=layer.directories
    )


@FIXED
@given(policies, st.one_of(denies, asks), calls, contexts, hook_lists)
def test_adding_a_deny_or_ask_never_loosens(
    policy: Policy, rule: Rule, call: Call, context: Context, hooks: tuple[HookVerdict, ...]
) -> None:
    before = decide(policy, call, context, hooks=hooks)
    after = decide(_with(policy, rule), call, context, hooks=hooks)
    assert rank(after.verdict) >= rank(before.verdict)


@FIXED
@given(policies, calls, contexts, hook_lists)
def test_hooks_never_beat_rules(
    policy: Policy, call: Call, context: Context, hooks: tuple[HookVerdict, ...]
) -> None:
    silent = compile_policy(
        [rule for rule in policy.layers[0].rules if rule.verdict != "allow"],
        "bypassPermissions",
    )
    floor = decide(silent, call, context)
    judged = decide(policy, call, context, hooks=hooks)
    if floor.rule is not None and floor.verdict != "allow":
        assert rank(judged.verdict) >= rank(floor.verdict)
    if any(hook.answer == "deny" for hook in hooks):
        assert judged.verdict == "deny"


@FIXED
@given(policies, policies, policies)
def test_meet_is_a_lattice_meet(one: Policy, two: Policy, three: Policy) -> None:
    assert meet(one, one) == one
    assert meet(one, two) == meet(two, one)
    assert meet(meet(one, two), three) == meet(one, meet(two, three))
    assert hash(meet(one, two)) == hash(meet(two, one))


@FIXED
@given(policies, policies, calls, contexts, hook_lists)
def test_meet_never_widens(
    one: Policy, two: Policy, call: Call, context: Context, hooks: tuple[HookVerdict, ...]
) -> None:
    both = decide(meet(one, two), call, context, hooks=hooks)
    apart = [decide(policy, call, context, hooks=hooks) for policy in (one, two)]
    assert rank(both.verdict) == max(rank(decision.verdict) for decision in apart)
    assert both.offered == all(decision.offered for decision in apart)
    if both.classify:
        assert all(decision.classify for decision in apart if decision.verdict == "ask")


@FIXED
@given(policies, calls, hook_lists)
def test_trust_only_widens(policy: Policy, call: Call, hooks: tuple[HookVerdict, ...]) -> None:
    trusted = Context(cwd="/p", root="/p", home="/h")
    untrusted = Context(cwd="/p", root="/p", home="/h", trusted=False)
    assert rank(decide(policy, call, untrusted, hooks=hooks).verdict) >= rank(
        decide(policy, call, trusted, hooks=hooks).verdict
    )


@FIXED
@given(policies, calls, contexts)
def test_dont_ask_never_asks(policy: Policy, call: Call, context: Context) -> None:
    layer = policy.layers[0]
    silent = compile_policy(layer.rules, "dontAsk", directories=layer.directories)
    assert decide(silent, call, context).verdict != "ask"
