"""From nothing to a first answer, for each way to a model, against loopback servers that behave like the real
ones; and what is said, and how soon, when something is missing."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.llm.http_server import HttpAnswer
from support import clouds
from support.clouds import WORDS, serving

SOON = 20.0
"""Seconds: 5 are promised, and a loaded machine gets more. Every retry would take longer."""
CLEAR = ("AWS_", "GOOGLE_", "AZURE_", "OLLAMA_", "CLOUDSDK_", "CLAUDE_CODE_", "ANTHROPIC_", "OPENAI_", "GCE_")


class Said:
    def __init__(self, status: int, out: str, err: str, seconds: float) -> None:
        self.status, self.out, self.err, self.seconds = status, out, err, seconds


Say = Callable[..., Said]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Say:
    """Runs a command line in an empty directory, with this environment."""
    for name in os.environ:
        if name.startswith(CLEAR):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)

    def call(*argv: str, **env: str) -> Said:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        began = time.monotonic()
        status = run(argv)
        took = time.monotonic() - began
        said = capsys.readouterr()
        return Said(status, said.out, said.err, took)

    return call


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def answers(said: Said) -> None:
    assert (said.status, said.out.strip()) == (0, WORDS), said.err


# Ollama


@pytest.mark.parametrize("form", ["{url}", "{url}/", "{url}/v1", "{host}", "{url}/v1/"])
@pytest.mark.parametrize("variable", ["OLLAMA_HOST", "OLLAMA_BASE_URL"])
def test_ollama_in_every_spelling(say: Say, variable: str, form: str) -> None:
    with serving(clouds.compatible(("qwen3:8b",))) as server:
        env = {variable: form.format(url=server.url, host=server.host)}
        answers(say("-p", "hi", "--model", "ollama:qwen3:8b", **env))
        answers(say("-p", "hi", **env))  # the only model that is there
    assert set(server.paths()) == {"/v1/chat/completions", "/v1/models"}


def test_a_host_that_a_server_listens_on_is_this_machine(say: Say) -> None:
    with serving(clouds.compatible(("m",))) as server:
        port = server.host.rpartition(":")[2]
        answers(say("-p", "hi", "--model", "ollama:m", OLLAMA_HOST=f"0.0.0.0:{port}"))
        answers(say("-p", "hi", "--model", "ollama:m", OLLAMA_HOST=f":{port}"))


@pytest.mark.parametrize("value", ["::1", "[::1]", "[::1]:11434", "http://[::1]:11434/"])
def test_an_address_of_six_parts_is_named_as_such(
    say: Say, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    def refuse(*_: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("socket.socket.connect", refuse)
    said = say("-p", "hi", "--model", "ollama:m", OLLAMA_HOST=value)
    assert "http://[::1]:11434 refused the connection" in said.err


@pytest.mark.parametrize("value", ["foo bar", "127.0.0.1:abc", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_a_mistake_of_the_user(say: Say, value: str) -> None:
    said = say("-p", "hi", "--model", "ollama", OLLAMA_HOST=value)
    assert said.status == 2
    assert "base URL of the model endpoint is not valid" in said.err
    assert "bug" not in said.err


PAGES = {
    "a web page": HttpAnswer(200, "text/html", [b"<html>Log in</html>"]),
    "cut JSON": HttpAnswer(200, "application/json", [b'[1,2,{"a":']),
    "other JSON": HttpAnswer(200, "application/json", [b'{"data": "x"}']),
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_server_that_is_no_model_api_is_told_at_once(say: Say, page: HttpAnswer) -> None:
    with serving(lambda _: page) as server:
        listed = say("-p", "hi", "--model", "ollama", OLLAMA_HOST=server.host)
        asked = say("-p", "hi", "--model", "ollama:m")
        doctor = say("doctor", "--model", "ollama:m")
    assert (listed.status, asked.status, doctor.status) == (1, 1, 1)
    assert "not a list of models" in listed.err
    assert "not an event stream" in asked.err
    assert "Trying again" not in asked.err
    assert "not a list of models" in doctor.out
    assert len(server.got) == 3


def test_a_list_without_models_may_be_null(say: Say) -> None:
    with serving(lambda _: clouds.answer(200, {"object": "list", "data": None})) as server:
        said = say("-p", "hi", "--model", "ollama", OLLAMA_HOST=server.host)
        doctor = say("doctor", "--model", "ollama:m")
    assert "ollama has no models yet" in said.err
    assert doctor.status == 1
    assert "ollama pull" in doctor.out


def test_ollama_that_is_down_fails_at_once_and_says_how_to_start_it(say: Say) -> None:
    said = say("-p", "hi", "--model", "ollama:qwen3:8b", OLLAMA_HOST=f"127.0.0.1:{closed_port()}")
    assert said.status == 1
    assert said.seconds < SOON
    assert "Trying again" not in said.err
    assert "refused the connection" in said.err
    assert "ollama serve" in said.err


def test_a_provider_alone_lists_what_is_there(say: Say) -> None:
    with serving(clouds.compatible(("qwen3:8b", "llama3:70b"))) as server:
        said = say("-p", "hi", "--model", "ollama", OLLAMA_HOST=server.host)
    assert said.status == 2
    assert "--model ollama:llama3:70b\n" in said.err
    assert "--model ollama:qwen3:8b\n" in said.err
    assert "config set model.default" in said.err
    with serving(clouds.compatible(())) as server:
        said = say("-p", "hi", "--model", "ollama", OLLAMA_HOST=server.host)
    assert "ollama pull" in said.err


def test_a_model_that_is_not_there_is_told_at_once(say: Say) -> None:
    with serving(clouds.compatible(("qwen3:8b",))) as server:
        said = say("-p", "hi", "--model", "ollama:qwen3:80b", OLLAMA_HOST=server.host)
    assert said.status == 1
    assert said.seconds < SOON
    assert 'model "qwen3:80b" not found' in said.err
    assert "lists what is there" in said.err
    assert len(server.got) == 1


def test_two_commands_to_a_first_answer_with_ollama(say: Say) -> None:
    with serving(clouds.compatible(("qwen3:8b", "other"))) as server:
        assert say("config", "set", "model.default", "ollama:qwen3:8b", OLLAMA_HOST=server.host).status == 0
        answers(say("-p", "hi"))


# OpenAI-compatible endpoints, Anthropic, nothing


def test_an_endpoint_with_one_model_needs_no_name(say: Say) -> None:
    with serving(clouds.compatible(("house-model",), key="k1")) as server:
        answers(say("-p", "hi", OPENAI_BASE_URL=f"{server.url}/v1", OPENAI_API_KEY="k1"))
        said = say("-p", "hi", OPENAI_API_KEY="wrong")
    assert said.status == 1
    assert "401" in said.err


def test_an_endpoint_with_several_models_lists_them(say: Say) -> None:
    with serving(clouds.compatible(("a", "b"))) as server:
        said = say("-p", "hi", OPENAI_BASE_URL=f"{server.url}/v1")
        assert said.status == 2
        assert "--model openai:a" in said.err
        answers(say("-p", "hi", "--model", "openai:b"))


@pytest.mark.parametrize(
    ("env", "wanted"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, {"x_api_key": "k", "authorization": ""}),
        (
            {"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_API_KEY": "k"},
            {"authorization": "Bearer t", "x_api_key": ""},
        ),
        (
            {"CLAUDE_CODE_OAUTH_TOKEN": "o"},
            {"authorization": "Bearer o", "anthropic_beta": "oauth-2025-04-20", "x_api_key": ""},
        ),
        ({"CLAUDE_CODE_OAUTH_TOKEN": "o", "ANTHROPIC_API_KEY": "k"}, {"x_api_key": "k", "authorization": ""}),
    ],
)
def test_anthropic_credentials_in_their_order(say: Say, env: dict[str, str], wanted: dict[str, str]) -> None:
    with serving(clouds.anthropic(**wanted)) as server:
        answers(say("-p", "hi", ANTHROPIC_BASE_URL=server.url, **env))


def test_nothing_at_all_is_a_clear_next_step(say: Say) -> None:
    said = say("-p", "hi")
    assert said.status == 1
    assert said.seconds < SOON
    assert "No credential found for a model." in said.err
    assert "ANTHROPIC_API_KEY" in said.err or "answers on this machine" in said.err


def test_a_server_at_home_is_found(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(clouds.compatible(("qwen3:8b",))) as server:
        from msgspec.structs import replace

        from checkrein.facts.models_providers import PROVIDERS

        monkeypatch.setitem(PROVIDERS, "ollama", replace(PROVIDERS["ollama"], base_url=f"{server.url}/v1"))
        said = say("-p", "hi")
    assert "--model ollama:qwen3:8b" in said.err


def test_an_address_that_does_not_answer_is_told_within_five_seconds(
    say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        time.sleep(0.05)
        raise TimeoutError

    monkeypatch.setattr("socket.socket.connect", never)
    said = say("doctor", "--json", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL="http://192.0.2.1")
    assert said.status == 1
    assert said.seconds < SOON
    model = json.loads(said.out)["data"]["model"]
    assert "did not accept a connection" in model["found"]


# Bedrock


BEDROCK = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_REGION": "us-west-2"}
KEYS = {"AWS_ACCESS_KEY_ID": clouds.ACCESS, "AWS_SECRET_ACCESS_KEY": clouds.SECRET}


def test_bedrock_with_keys(say: Say) -> None:
    with serving(clouds.bedrock()) as server:
        answers(say("-p", "hi", ANTHROPIC_BEDROCK_BASE_URL=server.url, **BEDROCK, **KEYS))
        assert server.paths() == ["/model/global.anthropic.claude-sonnet-5-5/invoke-with-response-stream"]
        answers(say("-p", "hi", AWS_SESSION_TOKEN=clouds.SESSION))
    assert server.got[-1].headers["x-amz-security-token"] == clouds.SESSION


def test_a_model_with_a_colon_is_signed_right(say: Say) -> None:
    name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    with serving(clouds.bedrock((name,))) as server:
        env = {"ANTHROPIC_BEDROCK_BASE_URL": server.url, **BEDROCK, **KEYS}
        answers(say("-p", "hi", "--model", name, **env))
        answers(say("-p", "hi", "--model", f"bedrock:{name}"))
    assert server.paths()[0].count("%3A") == 1


def test_bedrock_with_a_bearer_key_a_profile_a_process_a_container_or_a_machine(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(clouds.bedrock(bearer="b-key")) as server:
        answers(
            say(
                "-p", "hi", ANTHROPIC_BEDROCK_BASE_URL=server.url, AWS_BEARER_TOKEN_BEDROCK="b-key", **BEDROCK
            )
        )
    monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK")
    keys = {"AccessKeyId": clouds.ACCESS, "SecretAccessKey": clouds.SECRET, "Token": "t"}

    def reply(request: Any) -> Any:
        match request.method, request.path:
            case "GET", "/role":
                return clouds.answer(200, keys)
            case "PUT", "/latest/api/token":
                return clouds.HttpAnswer(200, "text/plain", (b"imds",))
            case "GET", "/latest/meta-data/iam/security-credentials/":
                assert request.headers["x-aws-ec2-metadata-token"] == "imds"
                return clouds.HttpAnswer(200, "text/plain", (b"my-role",))
            case "GET", "/latest/meta-data/iam/security-credentials/my-role":
                return clouds.answer(200, keys)
        return clouds.bedrock()(request)

    with serving(reply) as server:
        env = {"ANTHROPIC_BEDROCK_BASE_URL": server.url}
        answers(say("-p", "hi", AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{server.url}/role", **env))
        monkeypatch.delenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
        answers(say("-p", "hi", AWS_EC2_METADATA_SERVICE_ENDPOINT=server.url))
        shared = tmp_path / "credentials"
        shared.write_text(
            f"[work]\naws_access_key_id = {clouds.ACCESS}\naws_secret_access_key = {clouds.SECRET}\n"
        )
        answers(say("-p", "hi", AWS_SHARED_CREDENTIALS_FILE=str(shared), AWS_PROFILE="work"))
        printed = json.dumps({"Version": 1, **keys})
        script = tmp_path / "creds.sh"
        script.write_text(f"#!/bin/sh\necho '{printed}'\n")
        script.chmod(0o755)
        config = tmp_path / "config"
        config.write_text(f"[profile other]\nregion = us-west-2\ncredential_process = {script}\n")
        answers(say("-p", "hi", AWS_CONFIG_FILE=str(config), AWS_PROFILE="other"))


def test_bedrock_that_refuses_says_what_and_why(say: Say) -> None:
    with serving(clouds.bedrock()) as server:
        env = {"ANTHROPIC_BEDROCK_BASE_URL": server.url, **BEDROCK, **KEYS}
        said = say(
            "-p", "hi", AWS_SECRET_ACCESS_KEY="wrong", **{k: v for k, v in env.items() if "SECRET" not in k}
        )
        assert said.status == 1
        assert "signature does not match" in said.err
        assert "wrong" not in said.err
        said = say("-p", "hi", "--model", "bedrock:opus", AWS_SECRET_ACCESS_KEY=clouds.SECRET)
        assert "model identifier is invalid" in said.err
    said = say("-p", "hi", AWS_ACCESS_KEY_ID="")
    assert "No AWS credentials found." in said.err
    assert "AWS_PROFILE" in said.err


def test_a_stream_of_bedrock_that_breaks_is_told(say: Say) -> None:
    from checkrein.llm.cloud.event_stream import write_frame

    def reply(request: Any) -> Any:
        frame = write_frame(
            {":message-type": "exception", ":exception-type": "validationException"},
            json.dumps({"message": "the input is odd"}).encode(),
        )
        return clouds.HttpAnswer(200, "application/vnd.amazon.eventstream", (frame,))

    with serving(reply) as server:
        said = say("-p", "hi", ANTHROPIC_BEDROCK_BASE_URL=server.url, **BEDROCK, **KEYS)
    assert said.status == 1
    assert "the input is odd" in said.err


# Vertex


def test_vertex_with_a_token_a_service_account_a_login_or_metadata(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(clouds.vertex()) as server:
        env = {
            "CLAUDE_CODE_USE_VERTEX": "1",
            "ANTHROPIC_VERTEX_PROJECT_ID": "acme",
            "CLOUD_ML_REGION": "us-east5",
            "ANTHROPIC_VERTEX_BASE_URL": server.url,
        }
        answers(say("-p", "hi", CLOUDSDK_AUTH_ACCESS_TOKEN="ya29.good", **env))
        monkeypatch.delenv("CLOUDSDK_AUTH_ACCESS_TOKEN")
        file = tmp_path / "account.json"
        file.write_text(json.dumps(clouds.service_account(f"{server.url}/token")))
        answers(say("-p", "hi", GOOGLE_APPLICATION_CREDENTIALS=str(file)))
        login = {"type": "authorized_user", "client_id": "c", "client_secret": "desktop"}
        file.write_text(
            json.dumps({**login, "refresh_token": "1//refresh", "token_uri": f"{server.url}/token"})
        )
        answers(say("-p", "hi"))
        monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
        answers(say("-p", "hi", GCE_METADATA_HOST=server.host))
        gcloud = tmp_path / "gcloud"
        gcloud.write_text('#!/bin/sh\n[ "$1 $2" = "auth print-access-token" ] && echo ya29.good\n')
        gcloud.chmod(0o755)
        path = f"{tmp_path}:{os.environ['PATH']}"
        answers(say("-p", "hi", GCE_METADATA_HOST=f"127.0.0.1:{closed_port()}", PATH=path))


def test_vertex_without_a_project_or_a_login_says_so(say: Say, tmp_path: Path) -> None:
    said = say("-p", "hi", CLAUDE_CODE_USE_VERTEX="1")
    assert said.status == 2
    assert "ANTHROPIC_VERTEX_PROJECT_ID" in said.err
    closed = f"127.0.0.1:{closed_port()}"
    said = say("-p", "hi", ANTHROPIC_VERTEX_PROJECT_ID="acme", GCE_METADATA_HOST=closed, PATH=str(tmp_path))
    assert "No Google credentials found" in said.err
    assert "gcloud auth application-default login" in said.err
    assert said.seconds < SOON


# Foundry and Azure OpenAI


def test_foundry_and_azure(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(clouds.foundry()) as server:
        env = {"CLAUDE_CODE_USE_FOUNDRY": "1", "ANTHROPIC_FOUNDRY_BASE_URL": f"{server.url}/anthropic"}
        answers(say("-p", "hi", ANTHROPIC_FOUNDRY_API_KEY="az-key", **env))
        answers(say("-p", "hi", ANTHROPIC_FOUNDRY_AUTH_TOKEN="entra", ANTHROPIC_FOUNDRY_API_KEY="no"))
        monkeypatch.delenv("ANTHROPIC_FOUNDRY_AUTH_TOKEN")
        monkeypatch.delenv("ANTHROPIC_FOUNDRY_API_KEY")
        tenant = {
            "AZURE_TENANT_ID": "tenant-1",
            "AZURE_CLIENT_ID": "c",
            "AZURE_CLIENT_SECRET": "s3cret",
            "AZURE_AUTHORITY_HOST": server.url,
        }
        answers(say("-p", "hi", **tenant))
        said = say("-p", "hi", AZURE_CLIENT_SECRET="bad")
        assert "AADSTS7000215" in said.err
        azure = {"AZURE_OPENAI_ENDPOINT": server.url, "AZURE_OPENAI_API_KEY": "az-key"}
        answers(say("-p", "hi", "--model", "azure:gpt-dep", **azure))
        answers(say("-p", "hi", "--model", "azure:gpt-dep", OPENAI_API_VERSION="2024-10-21"))
    said = say("-p", "hi", ANTHROPIC_FOUNDRY_BASE_URL="", ANTHROPIC_FOUNDRY_RESOURCE="https://x.y")
    assert "a name, not an address" in said.err


# Sign-ins of companies


def sso(start: Any, **found: Any) -> Any:
    """The portal that gives keys for a sign-in, and the models behind it."""

    def reply(request: Any) -> Any:
        if request.path != "/federation/credentials":
            return clouds.bedrock()(request)
        if request.headers.get("x-amz-sso_bearer_token") != start:
            return clouds.answer(401, {"message": "Session token not found or invalid"})
        if "account_id=123" not in request.query or "role_name=Dev" not in request.query:
            return clouds.answer(403, {"message": "No access"})
        role = {"accessKeyId": clouds.ACCESS, "secretAccessKey": clouds.SECRET, "sessionToken": "s"}
        return clouds.answer(200, {"roleCredentials": role | {"expiration": 4_102_444_800_000} | found})

    return reply


def sign_in(home: Path, key: str, **kept: Any) -> None:
    import hashlib

    cache = home / ".aws" / "sso" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    said = {"accessToken": "tok", "expiresAt": "2099-01-01T00:00:00Z"} | kept
    (cache / f"{hashlib.sha1(key.encode()).hexdigest()}.json").write_text(json.dumps(said))


ROLE = "sso_account_id = 123\nsso_role_name = {}\nregion = us-west-2\n"
PROFILES = (
    "[profile new]\nsso_session = corp\n" + ROLE.format("Dev") + "[sso-session corp]\n"
    "sso_start_url = https://corp.test/start\nsso_region = us-east-1\n"
    "[profile old]\nsso_start_url = https://corp.test/start\nsso_region = us-east-1\n" + ROLE.format("Dev")
    + "[profile other]\nsso_session = corp\n" + ROLE.format("Admin")
    + "[profile half]\nsso_session = gone\n" + ROLE.format("Dev")
)  # fmt: skip


def test_a_sign_in_of_aws_gives_keys(say: Say) -> None:
    home = Path.home()
    (home / ".aws").mkdir()
    (home / ".aws" / "config").write_text(PROFILES)
    sign_in(home, "corp")
    sign_in(home, "https://corp.test/start")
    with serving(sso("tok")) as server:
        env = {"ANTHROPIC_BEDROCK_BASE_URL": server.url, "AWS_ENDPOINT_URL_SSO": server.url, **BEDROCK}
        for profile in ("new", "old"):
            answers(say("-p", "hi", AWS_PROFILE=profile, **env))
        assert "No access" in say("-p", "hi", AWS_PROFILE="other").err
        assert "lacks sso_start_url, sso_region" in say("-p", "hi", AWS_PROFILE="half").err
        for kept in ({"expiresAt": "2020-01-01T00:00:00Z"}, {"accessToken": "old"}, {"expiresAt": 3}):
            sign_in(home, "corp", **kept)
            said = say("-p", "hi", AWS_PROFILE="new")
            assert "Run `aws sso login --profile new`" in said.err
            assert said.status == 1
    assert "tok" not in said.err


def test_a_web_identity_gives_keys_or_says_what_aws_says(say: Say, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("eyJ.web\n")
    keys = {"AccessKeyId": clouds.ACCESS, "SecretAccessKey": clouds.SECRET, "SessionToken": "s"}

    def reply(request: Any) -> Any:
        if request.method != "POST" or request.path != "/":
            return clouds.bedrock()(request)
        if b"WebIdentityToken=eyJ.web&" not in request.body + b"&":
            error = {"Code": "ExpiredTokenException", "Message": "Token expired"}
            return clouds.answer(400, {"Error": error})
        result = {"AssumeRoleWithWebIdentityResult": {"Credentials": keys}}
        return clouds.answer(200, {"AssumeRoleWithWebIdentityResponse": result})

    with serving(reply) as server:
        env = {
            "ANTHROPIC_BEDROCK_BASE_URL": server.url,
            "AWS_ENDPOINT_URL_STS": server.url,
            "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/dev",
        }
        answers(say("-p", "hi", **env, **BEDROCK))
        token.write_text("eyJ.old")
        said = say("-p", "hi")
        assert "ExpiredTokenException: Token expired" in said.err
        assert "eyJ.old" not in said.err
        token.unlink()
        assert f"{token} can't be read" in say("-p", "hi").err


@pytest.mark.parametrize("name", ["apiKeyHelper", "gcloud"])
def test_a_command_that_hangs_is_named_and_given_up(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from checkrein.protocol import waits
    from checkrein.runtime.session import model_helpers

    monkeypatch.setattr(waits, "_FIRST", 0.05)
    monkeypatch.setattr(waits, "_LOOK", 0.05)
    monkeypatch.setattr(model_helpers, "_SECONDS", 1.0)
    env = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    if name == "gcloud":
        program = tmp_path / "gcloud"
        program.write_text("#!/bin/sh\nexec sleep 60\n")
        program.chmod(0o755)
        env = {"CLAUDE_CODE_USE_VERTEX": "1", "ANTHROPIC_VERTEX_PROJECT_ID": "acme", "CLOUD_ML_REGION": "x"}
        env |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GCE_METADATA_HOST": "127.0.0.1:9"}
    else:
        (Path.home() / ".claude").mkdir()
        (Path.home() / ".claude" / "settings.json").write_text('{"apiKeyHelper": "sleep 60"}')
    for words in (("-p", "hi"), ("doctor",)):
        said = say(*words, **env)
        assert said.status == 1
        assert f"Waiting for {name}" in said.err
        assert f"{name} took longer than 1 s." in said.err + said.out


@pytest.mark.parametrize("variable", ["http_proxy", "ALL_PROXY"])
def test_a_proxy_that_refuses_is_named_without_its_password(say: Say, variable: str) -> None:
    env = {variable: "http://me:hidden@127.0.0.1:9", "no_proxy": "", "NO_PROXY": ""}
    said = say("-p", "hi", ANTHROPIC_BASE_URL="http://model.test", ANTHROPIC_API_KEY="k", **env)
    assert said.status == 1
    assert f"The proxy http://127.0.0.1:9, which {variable} names, refused the connection." in said.err
    assert f"Check {variable}, or name model.test in no_proxy." in said.err
    assert "hidden" not in said.err
