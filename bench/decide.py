"""Speed of decisions: 200 rules, the observed calls, with a warm parser.

    python bench/decide.py [--rounds 5]

Prints the time per decision, its ratio to parsing alone, and the cost of hostile lines.
Targets: median under 0.3 ms, 99 of 100 under 3 ms, a line of 100 KB bounded.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy, compile_policy
from checkrein.policy.shell.grammar import parse
from checkrein.policy.values import Call, Context

ROWS = Path(__file__).parent.parent / "tests" / "conformance" / "data" / "permissions.jsonl"
COMMANDS = (
    "git status, git log, git diff, git add, git commit, npm run build, npm run test, npm run lint, pytest,"
    " ruff check,"
    " cargo build, cargo test, make, docker ps, kubectl get, terraform plan, go test, tsc, eslint, prettier"
)


def policy_of_200() -> Policy:
    """60 allow, 60 ask, 60 deny rules on commands and 20 on paths and hosts."""
    names = [name.strip() for name in COMMANDS.split(",")]
    texts = [("allow", f"Bash({names[at % 20]} {'--x' * (at // 20)} *)") for at in range(60)]
    texts += [("ask", f"Bash({names[at % 20]} --danger{at} *)") for at in range(60)]
    texts += [("deny", f"Bash({names[at % 20]} --never{at} *)") for at in range(60)]
    texts += [("deny", f"Read(./secret{at}/**)") for at in range(8)]
    texts += [("deny", f"Edit(generated{at}/**)") for at in range(8)]
    texts += [("allow", f"WebFetch(domain:example{at}.com)") for at in range(4)]
    origin = Origin("settings.json", "user")
    return compile_policy(parse_rule(text, behavior, origin) for behavior, text in texts)  # type: ignore[arg-type]


def calls() -> list[Call]:
    rows = (json.loads(line.replace("@PROJ@", "/w/p")) for line in ROWS.read_text().splitlines())
    return [Call(row["tool"], row["input"]) for row in rows]


def measure(run: Callable[[Call], object], todo: list[Call], rounds: int) -> list[float]:
    """The best of `rounds` times for each call, in milliseconds."""
    best = [float("inf")] * len(todo)
    for _ in range(rounds):
        for at, call in enumerate(todo):
            start = time.perf_counter()
            run(call)
            best[at] = min(best[at], (time.perf_counter() - start) * 1000)
    return best


def row(name: str, times: list[float]) -> str:
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{name:28} {statistics.median(times):10.3f} {p99:10.3f} {ordered[-1]:10.3f} {len(times):8}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    policy = policy_of_200()
    context = Context(cwd="/w/p", root="/w/p", home="/w/h")
    todo = calls()
    shell = [call for call in todo if call.tool == "Bash"]
    decided = measure(lambda call: decide(policy, call, context), todo, rounds)
    decided_shell = measure(lambda call: decide(policy, call, context), shell, rounds)
    parsed = measure(lambda call: parse(call.input["command"]), shell, rounds)
    print(f"{'milliseconds':28} {'median':>10} {'p99':>10} {'max':>10} {'calls':>8}")
    print(row("decide, all calls", decided))
    print(row("decide, shell calls", decided_shell))
    print(row("parse alone, shell calls", parsed))
    ratios = [one / other for one, other in zip(decided_shell, parsed, strict=True)]
    print(f"\ndecide / parse alone: median {statistics.median(ratios):.1f}, max {max(ratios):.1f}")
    print("\nhostile lines of 100 KB and less:")
    hostile = {
        "100 KB of `a;`": "a;" * 51_200,
        "60 KB of `a;`": "a;" * 30_000,
        "9 KB of `$(`": "$(" * 4_500,
        "9 KB of `((`": "(" * 9_000,
        "9 KB of `{a,b}`": "echo " + "{a,b}" * 1_800,
        "nested loops": "for a in 1 2; do " * 12 + "x=$a; x=$x$x; ls; " + "done; " * 12,
        "nested sh -c": "sh -c " + "'sh -c " * 400,
        "9 KB of quotes": "'\"" * 4_500,
        "60 KB heredoc": "cat <<EOF\n" + "x $y `z`\n" * 6_500 + "EOF",
    }
    for name, text in hostile.items():
        start = time.perf_counter()
        verdict = decide(policy, Call("Bash", {"command": text}), context).verdict
        print(f"  {name:24} {(time.perf_counter() - start) * 1000:9.1f} ms  {verdict}")


if __name__ == "__main__":
    main()
