"""What the kitchen remembers: steps, times, failures, sizes of answers."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any, Literal

from checkrein import __version__
from checkrein.base.files import write_atomic
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands
from checkrein.serve.mcp.shift import Step

_SHOWN = ("test_check.command", "safety.protected_branches", "github.default_repo", "ci.workflow")


def kitchen_status(hands: Hands) -> dict[str, Any]:
    return {
        "success": True,
        "version": __version__,
        "kitchen_id": hands.shift.owner,
        "root": hands.root,
        "config": {name: hands.setting(name) for name in _SHOWN},
    }


def get_pipeline_report(hands: Hands, clear: bool = False) -> dict[str, Any]:
    failures = [
        {"step": one.step, "tool": one.tool, "error": one.failure}
        for one in hands.shift.steps(clear=clear)
        if one.failure is not None
    ]
    return {"success": True, "total_failures": len(failures), "failures": failures}


def get_token_summary(
    hands: Hands, clear: bool = False, format: Literal["json", "table"] = "json", order_id: str = ""
) -> dict[str, Any]:
    """The tokens of answers, estimated: what these tools put into the client's context."""
    large = int(hands.setting("mcp_response.alert_threshold_tokens"))
    rows: list[dict[str, Any]] = [
        {
            "step": name,
            "calls": len(steps),
            "tokens": sum(one.tokens for one in steps),
            "large": sum(one.tokens > large for one in steps),
        }
        for name, steps in _by_step(hands.shift.steps(order_id, clear=clear)).items()
    ]
    return _summary(rows, format, {"tokens": sum(row["tokens"] for row in rows)})


def get_timing_summary(
    hands: Hands, clear: bool = False, format: Literal["json", "table"] = "json", order_id: str = ""
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = [
        {"step": name, "calls": len(steps), "seconds": round(sum(one.seconds for one in steps), 3)}
        for name, steps in _by_step(hands.shift.steps(order_id, clear=clear)).items()
    ]
    return _summary(rows, format, {"seconds": round(sum(row["seconds"] for row in rows), 3)})


def write_telemetry_files(hands: Hands, output_dir: str) -> dict[str, Any]:
    where = hands.path(output_dir)
    files = {
        "token_summary.json": get_token_summary(hands),
        "timing_summary.json": get_timing_summary(hands),
        "response_sizes.json": {"steps": [{"step": s.step, "tokens": s.tokens} for s in hands.shift.steps()]},
    }
    paths = [os.path.join(where, name) for name in files]
    for path in paths:
        hands.may_write(path)
    try:
        os.makedirs(where, exist_ok=True)
        for path, content in zip(paths, files.values(), strict=True):
            write_atomic(Path(path), json.dumps(content, indent=2) + "\n")
    except OSError as error:
        raise ToolFailure(f"{output_dir} can't be written: {error.strerror}.") from None
    return {"success": True, "files": paths}


def _by_step(steps: list[Step]) -> dict[str, list[Step]]:
    found: dict[str, list[Step]] = defaultdict(list)
    for one in steps:
        found[one.step].append(one)
    return found


def _summary(rows: list[dict[str, Any]], format: str, total: dict[str, Any]) -> dict[str, Any]:
    if format == "json":
        return {"success": True, "steps": rows, "total": total}
    names = list(rows[0]) if rows else ["step"]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]).replace("|", "\\|") for name in names) + " |" for row in rows]
    return {"success": True, "table": "\n".join(lines), "total": total}
