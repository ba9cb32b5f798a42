"""Every configuration key of Checkrein, declared once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from checkrein.base.config import OWN_LAYERS, Key
from checkrein.base.extension_keys import KEYS as EXTENSIONS

Seconds = Annotated[float, Meta(gt=0)]
Patience = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(gt=0)]


class QueueLimits(TypedDict, total=False):
    concurrency: Count
    per_worker: Count
    starts: Count
    period: Seconds


KEYS: tuple[Key, ...] = (
    Key("check.select", list[str], [], "Run only checks whose code starts with one of these."),
    Key("check.ignore", list[str], [], "Skip checks whose code starts with one of these."),
    Key("check.per_file", dict[str, list[str]], {},
        "Codes that are not reported in some files: patterns as in `.gitignore`, from the project's root."),
    Key("check.baseline", str | None, None, "A file of known findings; check does not report them again."),
    Key("permissions.rules", list[dict[str, Any]], [],
        "Permission rules with `match` and `not_match` examples; loading checks the examples."),
    Key("deploy.profile", str, "seed", "The revision of the behavior tables for deploy: seed or pr2103."),
    Key("deploy.models", dict[str, dict[str, str]], {},
        "Model names for `behavior.capability`, by agent and capability; they win over the tables."),
    Key("model.default", str | None, None, "The model that runs a session, as `provider:name`."),
    Key("model.fallback", list[str], [], "Models to try, in order, when the first is overloaded."),
    Key("model.base_url", str | None, None, "The address of the model service.", ("user", "env")),
    Key("model.api_key", str | None, None, "The credential for the model service.", OWN_LAYERS, secret=True),
    Key("model.idle_timeout", Seconds, 120.0,
        "Seconds without a byte after which a reply counts as dropped."),
    Key("loops.remind", Annotated[int, Meta(ge=0)], 3,
        "How often a model makes the same failing calls in a row before it is reminded of it; 0: never."),
    Key("loops.end", Annotated[int, Meta(ge=0)], 5,
        "How often a model makes the same failing calls in a row before the turn ends; 0: never."),
    *EXTENSIONS,
    Key("guard.enabled", bool, True,
        "Judge every program that a command starts, at its start, by the deny and ask rules.",
        ("user", "env")),
    Key("guard.compiled", bool, True,
        "Let compiled code answer the starts of programs that no rule is about, where it was installed.",
        ("user", "env")),
    Key("guard.except", list[str], [],
        "Programs that run unguarded, because they need rights that the guard takes away (`sudo`). They are"
        " judged strictly before they run.", ("user",)),
    Key("mcp.effects", dict[str, dict[str, str | list[str]]], {},
        "What tools of MCP servers do, by server and tool: `run_cmd = \"exec:command\"` (exec, read, search,"
        " write, net, and a field of the input). Rules for Bash, Read, Edit and WebFetch then judge them too."
        " All layers count together.", ("user", "project")),
    Key("search.url", str | None, None,
        "The search endpoint for WebSearch, with `{query}` in it; it answers with JSON. Without one the"
        " model's own service searches.", ("user", "env")),
    Key("search.api_key", str | None, None, "The credential for the search endpoint.", ("user", "env"),
        secret=True),
    Key("search.key_header", str, "Authorization", "The header that carries the credential.",
        ("user", "env")),
    Key("telemetry.otel", bool, False,
        "Send spans of each session with OpenTelemetry; needs the extra `otel`.", ("env",)),
    Key("secrets.reveal", list[str], [],
        "Secrets that the model may see: `Read(tests/**)` for files, a tool's name for its results.",
        ("user", "env")),
    Key("secrets.withhold", list[str], [],
        "More variables that no child process gets, besides the credentials of the models.", ("user", "env")),
    Key("secrets.pass", list[str], [],
        "Credentials of the models that child processes get all the same.", ("user", "env")),
    Key("skills.strict_tools", bool, False,
        "A skill's `allowed-tools` also restrict: its turn can use no other tool."),
    Key("skills.tier1", list[str], [], "Skills to put into tier 1: every session sees them."),
    Key("skills.tier2", list[str], [],
        "Skills to put into tier 2: cook sessions see them, and workers, whose model can't choose them."),
    Key("skills.tier3", list[str], [],
        "Skills to put into tier 3: cook sessions see them, and workers whose skill needs them."),
    Key("subsets.disabled", list[str], [], "Categories whose skills and tools are hidden."),
    Key("subsets.custom_tags", dict[str, list[str]], {}, "More categories, each with its skills."),
    Key("packs.enabled", list[str], [], "Categories to show that are hidden by default."),
    Key("test_check.command", str | None, None, "The command that runs the project's tests."),
    Key("test_check.timeout", Seconds, 600.0, "Seconds that the tests may take."),
    Key("classify_fix.path_prefixes", list[str], [],
        "Paths whose change makes `classify_fix` ask for a full restart."),
    Key("reset_workspace.command", str | None, None, "The command that `reset_workspace` runs first."),
    Key("reset_workspace.preserve_dirs", list[str], [], "What `reset_workspace` leaves where it is."),
    Key("safety.reset_guard_marker", str, ".checkrein-workspace",
        "The file without which no directory is emptied."),
    Key("safety.test_gate_on_merge", bool, True, "`merge_worktree` runs tests before and after its rebase."),
    Key("safety.protected_branches", list[str], ["main", "integration", "stable"],
        "Branches that no tool pushes to or merges into."),
    Key("read_db.timeout", Seconds, 30.0, "Seconds that a query of `read_db` may take."),
    Key("read_db.max_rows", Count, 10_000, "Rows that `read_db` returns."),
    Key("run_skill.backend", Literal["checkrein", "claude"], "checkrein",
        "What runs a worker: Checkrein's own runtime, or the installed `claude`."),
    Key("run_skill.timeout", Seconds, 7_200.0, "Seconds that a worker may take."),
    Key("run_skill.stale_threshold", Patience, 1_200.0,
        "Seconds without a step after which a worker counts as stuck; 0: never."),
    Key("run_skill.idle_output_timeout", Patience, 600.0,
        "Seconds without a sign of life after which a worker counts as stuck; 0: never."),
    Key("run_skill.max_suppression_seconds", Patience, 1_800.0,
        "Seconds for which a running tool excuses a worker's silence; 0: as long as it runs."),
    Key("run_skill.natural_exit_grace_seconds", Patience, 5.0,
        "Seconds that a worker may go on after it has submitted its result."),
    Key("quota_guard.enabled", bool, True, "Make workers wait that would spend more than the limits.",
        ("user", "env")),
    Key("quota_guard.max_usd", Annotated[float, Meta(gt=0)] | None, None,
        "Money that the user's workers may spend within the window.", ("user", "env")),
    Key("quota_guard.max_tokens", Count | None, None,
        "Tokens (input, output, written to the cache) that they may use within the window.", ("user", "env")),
    Key("quota_guard.window_seconds", Seconds, 18_000.0, "The seconds that the quota guard looks back.",
        ("user", "env")),
    Key("worktree_setup.command", str | None, None,
        "The command that prepares a clone after `clone_repo` has made it."),
    Key("workspace.runs_root", str, "../checkrein-runs", "Where clones are made, from a repository."),
    Key("github.token", str | None, None, "The token that `gh` gets.", ("secrets",), secret=True),
    Key("github.default_repo", str | None, None, "The repository of issues that are named by a number."),
    Key("github.in_progress_label", str, "in-progress", "The label of a claimed issue."),
    Key("github.staged_label", str, "staged", "The label of an issue whose work waits on a branch."),
    Key("github.allowed_labels", list[str], [], "The labels that tools may set; empty allows every one."),
    Key("github.claim_seconds", Seconds, 14_400.0, "Seconds after which a claim ends by itself."),
    Key("branching.default_base_branch", str, "main", "The branch that new branches start from."),
    Key("branching.promotion_target", str, "main",
        "The branch whose merge finishes an issue; work on another one is staged."),
    Key("ci.workflow", str | None, None, "The workflow that counts, unless a call names one."),
    Key("ci.event", str | None, None, "The event whose runs count, unless a call names one."),
    Key("ci.poll_seconds", Seconds, 5.0, "The first pause between looks at a run; later ones are longer."),
    Key("mcp_response.alert_threshold_tokens", Count, 2_000,
        "Tokens from which an answer counts as large in `get_token_summary`."),
    Key("recipes.database", str | None, None,
        "The PostgreSQL database of recipe runs, `postgresql://user@host/name`; workers of many machines"
        " share. Without it, runs are kept in a file of the Checkrein home.", ("user", "env"), secret=True),
    Key("recipes.queues", dict[str, QueueLimits], {},
        "Limits of queues by name: `concurrency` runs at once over all workers, `per_worker` on each (4),"
        " `starts` within `period` seconds.", ("user", "env")),
    Key("serve.token", str | None, None, "The token of `checkrein serve mcp --port`.", OWN_LAYERS,
        secret=True),
    Key("screen.theme", Literal["auto", "dark", "light", "none"], "auto",
        "The colours of the terminal; auto looks at COLORFGBG, and NO_COLOR means none.", ("user", "env")),
    Key("screen.editing", Literal["emacs", "vi"], "emacs", "The keys of the prompt.", ("user", "env")),
    Key("screen.keys", dict[str, str], {},
        "Other keys for actions of the terminal: `transcript = \"f2\"`; `/keys` lists them.",
        ("user", "env")),
    Key("screen.notify", Literal["auto", "bell", "osc9", "osc777", "none"], "auto",
        "How the terminal calls you when it needs an answer.", ("user", "env")),
    Key("screen.plain", bool, False,
        "Line by line, without redrawing: for screen readers and simple terminals.", ("user", "env")),
    Key("session.max_turns", int | None, None, "Requests after which a session stops with a partial result."),
    Key("session.max_usd", float | None, None, "Money after which a session stops with a partial result."),
    Key("session.max_seconds", float | None, None, "Seconds after which a turn stops with a partial result."),
)  # fmt: skip
