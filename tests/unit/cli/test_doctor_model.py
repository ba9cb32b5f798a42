"""`checkrein doctor` asks the model that a run would use, and names the credential, never its value."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from support import clouds
from support.clouds import WORDS, serving
from support.files import lay

Captured = pytest.CaptureFixture[str]
Doctor = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def doctor(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Doctor:
    """Its status, what it says of the model, and all that it prints."""
    for name in os.environ:
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_", "OLLAMA_", "CLAUDE_CODE_", "ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    lay(tmp_path, {"work/.git/": None})
    monkeypatch.chdir(tmp_path / "work")

    def look(*argv: str, **env: str) -> tuple[int, dict[str, Any], str]:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        run(["doctor", *argv])
        text = capsys.readouterr().out
        status = run(["doctor", "--json", *argv])
        out = capsys.readouterr().out
        return status, json.loads(out)["data"]["model"], text + out

    return look


@pytest.fixture
def users() -> Path:
    """The home of the user."""
    return Path(os.environ["HOME"])


def test_it_asks_the_model_and_names_the_credential(doctor: Doctor) -> None:
    with serving(clouds.anthropic(x_api_key="sk-ant-quite-secret")) as server:
        status, model, shown = doctor(ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY="sk-ant-quite-secret")
        assert (status, model["state"], model["credential"]) == (0, "ok", "ANTHROPIC_API_KEY")
        assert "quite-secret" not in shown
        assert "✗" not in shown
        status, model, shown = doctor(ANTHROPIC_API_KEY="sk-ant-wrong-secret")
    assert (status, model["state"]) == (1, "missing")
    assert "401" in model["found"]
    assert model["fix"] == "Check ANTHROPIC_API_KEY."
    assert "✗ model" in shown
    assert "wrong-secret" not in shown


def test_nothing_and_a_server_that_is_down_are_failures(doctor: Doctor) -> None:
    status, model, shown = doctor()
    assert (status, model["state"]) == (1, "missing")
    assert "No credential found for a model." in shown
    with serving(clouds.compatible(())) as server:
        pass
    status, model, _ = doctor("--model", "ollama:qwen3:8b", OLLAMA_HOST=server.host)
    assert status == 1
    assert "refused the connection" in model["found"]
    assert "ollama serve" in model["fix"]


def test_it_reads_the_configuration_of_a_run(doctor: Doctor, capsys: Captured) -> None:
    with serving(clouds.compatible(("qwen3:8b",))) as server:
        run(["config", "set", "model.default", "ollama:qwen3:8b"])
        capsys.readouterr()
        status, model, _ = doctor(OLLAMA_HOST=server.host)
        assert (status, model["provider"], model["name"]) == (0, "ollama", "qwen3:8b")
        status, model, _ = doctor("--model", "ollama:qwen3:80b")
        assert status == 1
        assert "Did you mean 'qwen3:8b'?" in model["found"]
        lay(Path.cwd(), {".claude/settings.json": {"model": "ollama:other"}})
        assert doctor()[1]["name"] == "other"
        assert run(["machine", "setup-report", "--json", "--model", "ollama:qwen3:8b"]) == 0
        report = json.loads(capsys.readouterr().out)["data"]
        assert (report["ready"], report["diagnosis"]["model"]["name"]) == (True, "qwen3:8b")


def test_company_clouds(doctor: Doctor) -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": clouds.ACCESS,
        "AWS_SECRET_ACCESS_KEY": clouds.SECRET,
        "AWS_REGION": "us-west-2",
    }
    with serving(clouds.bedrock()) as server:
        status, model, shown = doctor(
            CLAUDE_CODE_USE_BEDROCK="1", ANTHROPIC_BEDROCK_BASE_URL=server.url, ANTHROPIC_API_KEY="k", **keys
        )
        assert (status, model["provider"], model["credential"]) == (0, "bedrock", "AWS_ACCESS_KEY_ID")
        assert clouds.SECRET not in shown
        status, model, _ = doctor(AWS_SECRET_ACCESS_KEY="wrong")
        assert (status, model["fix"]) == (1, "Check AWS_ACCESS_KEY_ID.")
    with serving(clouds.vertex()) as server:
        vertex = {"ANTHROPIC_VERTEX_PROJECT_ID": "acme", "CLOUD_ML_REGION": "us-east5"}
        token = {"CLOUDSDK_AUTH_ACCESS_TOKEN": "ya29.good", "ANTHROPIC_VERTEX_BASE_URL": server.url}
        status, model, shown = doctor("--model", "vertex:sonnet", **vertex, **token)
        assert (status, model["credential"]) == (0, "CLOUDSDK_AUTH_ACCESS_TOKEN")
        assert "ya29" not in shown
        assert doctor("--model", "vertex:opus")[0] == 1
    with serving(clouds.foundry()) as server:
        foundry = {
            "ANTHROPIC_FOUNDRY_BASE_URL": f"{server.url}/anthropic",
            "ANTHROPIC_FOUNDRY_API_KEY": "az-key",
        }
        status, model, _ = doctor("--model", "foundry:sonnet", **foundry)
        assert (status, model["credential"]) == (0, "ANTHROPIC_FOUNDRY_API_KEY")


HELPER = "echo ran >> {log}; echo sk-from-helper"


def test_a_helper_runs_after_trust_once_and_again_after_a_refusal(
    doctor: Doctor, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    lay(tmp_path, {"work/.claude/settings.json": {"apiKeyHelper": HELPER.format(log=log)}})
    expired = [True]

    def reply(request: Any) -> Any:
        if request.method == "POST" and expired.pop():
            error = {"type": "authentication_error", "message": "expired"}
            return clouds.answer(401, {"type": "error", "error": error})
        return clouds.anthropic(x_api_key="sk-from-helper", authorization="Bearer sk-from-helper")(request)

    with serving(reply) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        run(["-p", "hi"])
        assert not log.exists(), "an untrusted project runs nothing"
        capsys.readouterr()
        assert run(["trust", "--yes"]) == 0
        status, model, shown = doctor()
        assert (status, model["credential"]) == (0, "apiKeyHelper")
        assert "sk-from-helper" not in shown
        log.unlink()
        expired[:] = [False, False]
        assert run(["-p", "hi"]) == 0
        assert capsys.readouterr().out.strip() == WORDS
        assert log.read_text() == "ran\n"
        expired[:] = [False, True]
        assert run(["-p", "hi"]) == 0
        assert log.read_text() == "ran\n" * 3, "the first key was refused, so it asked for another"


def test_a_helper_of_the_user_comes_after_keys_and_before_a_subscription(doctor: Doctor, users: Path) -> None:
    lay(users, {".claude/settings.json": {"apiKeyHelper": "echo sk-mine"}})
    with serving(clouds.anthropic()) as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "CLAUDE_CODE_OAUTH_TOKEN": "o"}
        assert doctor(**env)[1]["credential"] == "apiKeyHelper"
        assert doctor(ANTHROPIC_API_KEY="k")[1]["credential"] == "ANTHROPIC_API_KEY"
        assert doctor(ANTHROPIC_AUTH_TOKEN="t")[1]["credential"] == "ANTHROPIC_AUTH_TOKEN"


def test_a_helper_that_fails_says_why(doctor: Doctor, users: Path) -> None:
    settings = lay(users, {".claude/settings.json": {"apiKeyHelper": "echo no vault >&2; exit 4"}})
    with serving(clouds.anthropic()) as server:
        status, model, _ = doctor(ANTHROPIC_BASE_URL=server.url)
        assert status == 1
        assert "apiKeyHelper ended with status 4: no vault" in model["found"]
        lay(settings, {".claude/settings.json": {"apiKeyHelper": "true"}})
        assert "printed nothing" in doctor()[1]["found"]


def test_a_variable_of_the_users_settings_chooses_the_cloud(doctor: Doctor, users: Path) -> None:
    with serving(clouds.bedrock(bearer="b")) as server:
        env = {
            "CLAUDE_CODE_USE_BEDROCK": "1",
            "ANTHROPIC_BEDROCK_BASE_URL": server.url,
            "AWS_BEARER_TOKEN_BEDROCK": "b",
        }
        lay(users, {".claude/settings.json": {"env": env}})
        status, model, _ = doctor()
    assert (status, model["provider"], model["credential"]) == (0, "bedrock", "AWS_BEARER_TOKEN_BEDROCK")


def test_a_trusted_project_can_not_lead_requests_elsewhere(doctor: Doctor, capsys: Captured) -> None:
    with serving(clouds.compatible(("m",))) as right, serving(clouds.compatible(("m",))) as wrong:
        theirs = {
            "OLLAMA_HOST": wrong.host,
            "GCE_METADATA_HOST": wrong.host,
            "AZURE_AUTHORITY_HOST": wrong.url,
        }
        lay(Path.cwd(), {".claude/settings.json": {"env": theirs}})
        assert run(["trust", "--yes"]) == 0
        capsys.readouterr()
        assert doctor("--model", "ollama:m", OLLAMA_HOST=right.host)[0] == 0
        assert run(["-p", "hi", "--model", "ollama:m", "--trust"]) == 0
    assert right.got
    assert not wrong.got


def test_a_helper_that_fails_does_not_show_a_key(doctor: Doctor, users: Path) -> None:
    leak = "echo refused sk-ant-api03-LEAKLEAKLEAKLEAK >&2; exit 1"
    settings = lay(users, {".claude/settings.json": {"apiKeyHelper": leak}})
    with serving(clouds.anthropic()) as server:
        _, model, shown = doctor(ANTHROPIC_BASE_URL=server.url)
        assert "apiKeyHelper ended with status 1: refused" in model["found"]
        assert "LEAK" not in shown
        lay(settings, {".claude/settings.json": {"apiKeyHelper": r"printf '\033[31mkey'"}})
        assert "printed more than one key" in doctor()[1]["found"]
