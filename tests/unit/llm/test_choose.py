from typing import Any

import pytest

from checkrein.base.errors import AuthError, ConfigError, FileError, NotFoundError, UsageError
from checkrein.facts.models_providers import PROVIDERS
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.choose import Chosen, ModelSettings, choose
from checkrein.llm.open_replies import OpenReplies
from checkrein.llm.openai_chat import ChatModel
from checkrein.llm.openai_responses import ResponsesModel
from checkrein.llm.port import Cancel, Request, collect, user
from checkrein.llm.server import ScriptedServer

ANT = {"ANTHROPIC_API_KEY": "sk-ant-xxxxxxxxxxxxxxxxxxxx"}
OAI = {"OPENAI_API_KEY": "sk-proj-xxxxxxxxxxxxxxxxxxxx"}


@pytest.mark.parametrize(
    ("spec", "env", "provider", "name", "kind"),
    [
        (None, ANT, "anthropic", "claude-sonnet-5-5", AnthropicModel),
        (None, OAI, "openai", "gpt-6.1-sol", ResponsesModel),
        (None, ANT | OAI, "anthropic", "claude-sonnet-5-5", AnthropicModel),
        (
            None,
            {"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"},
            "anthropic",
            "claude-sonnet-5-5",
            AnthropicModel,
        ),
        (None, ANT | {"ANTHROPIC_MODEL": "opus"}, "anthropic", "claude-opus-5-5", AnthropicModel),
        (None, ANT | {"ANTHROPIC_DEFAULT_MODEL": "haiku"}, "anthropic", "claude-haiku-5-5", AnthropicModel),
        ("haiku", ANT | {"ANTHROPIC_MODEL": "opus"}, "anthropic", "claude-haiku-5-5", AnthropicModel),
        ("opus", ANT | {"ANTHROPIC_DEFAULT_OPUS_MODEL": "x-1"}, "anthropic", "x-1", AnthropicModel),
        ("sonnet[1m]", ANT, "anthropic", "claude-sonnet-5-5", AnthropicModel),
        ("anthropic:opus", ANT, "anthropic", "claude-opus-5-5", AnthropicModel),
        ("some-gateway-model", ANT, "anthropic", "some-gateway-model", AnthropicModel),
        ("gpt-5.4", OAI, "openai", "gpt-5.4", ResponsesModel),
        ("openai:x", OAI | {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "openai", "x", OpenReplies),
        (
            "openai-responses:x",
            {"OPENAI_BASE_URL": "http://localhost:1/v1"},
            "openai-responses",
            "x",
            ResponsesModel,
        ),
        ("openai-chat:x", OAI, "openai-chat", "x", ChatModel),
        ("ollama:qwen3:8b", {}, "ollama", "qwen3:8b", OpenReplies),
        ("openrouter:a/b", {"OPENROUTER_API_KEY": "k"}, "openrouter", "a/b", ChatModel),
    ],
)
def test_choice(spec: str | None, env: dict[str, str], provider: str, name: str, kind: type) -> None:
    chosen = choose(spec, env=env)
    assert (chosen.provider, chosen.name) == (provider, name)
    assert isinstance(chosen.model, kind)


def test_setting_is_below_the_environment_and_above_its_default() -> None:
    settings = ModelSettings(default="opus")
    assert choose(None, settings, ANT).name == "claude-opus-5-5"
    assert choose(None, settings, ANT | {"ANTHROPIC_MODEL": "m"}).name == "m"
    assert choose(None, settings, ANT | {"ANTHROPIC_DEFAULT_MODEL": "m"}).name == "claude-opus-5-5"


def test_facts_come_with_the_choice() -> None:
    chosen = choose("opus", env=ANT)
    assert chosen.facts is not None
    assert chosen.facts.window == 1_000_000
    assert choose("unheard-of", env=ANT).facts is None


def test_no_credential_at_all() -> None:
    with pytest.raises(AuthError) as caught:
        choose(env={})
    assert caught.value.kind == "credentials_missing"
    assert "ANTHROPIC_API_KEY" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("spec", "variable"), [("sonnet", "ANTHROPIC_API_KEY"), ("openrouter:x", "OPENROUTER_API_KEY")]
)
def test_missing_credential_names_its_variable(spec: str, variable: str) -> None:
    with pytest.raises(AuthError) as caught:
        choose(spec, env={})
    assert variable in (caught.value.hint or "")


def test_unknown_provider() -> None:
    with pytest.raises(UsageError) as caught:
        choose("antropic:x", env=ANT)
    assert "Did you mean 'anthropic'?" in caught.value.message
    with pytest.raises(UsageError):
        choose("ollama:", env={})


def test_bad_base_url() -> None:
    with pytest.raises(ConfigError):
        choose("sonnet", ModelSettings(base_url="nonsense"), ANT)


def sent_key(server: ScriptedServer, chosen: Chosen) -> dict[str, str]:
    collect(chosen.model.stream(Request(model=chosen.name, messages=(user("x"),)), Cancel()))
    return server.requests[-1].headers


def test_which_header_carries_the_key() -> None:
    with ScriptedServer([{"text": "x", "repeat": 0}]) as server:
        base = {"ANTHROPIC_BASE_URL": server.url}
        assert "x-api-key" in sent_key(server, choose("m", env=base | ANT))
        headers = sent_key(server, choose("m", env=base | ANT | {"ANTHROPIC_AUTH_TOKEN": "t"}))
        assert "x-api-key" not in headers
        assert "authorization" in headers
        headers = sent_key(
            server, choose("m", env=base | {"ANTHROPIC_CUSTOM_HEADERS": "X-Team: a\nX-B: c: d"})
        )
        assert (headers["x-team"], headers["x-b"]) == ("a", "c: d")
        assert not {"x-api-key", "authorization"} & headers.keys()
        assert headers["user-agent"].startswith("checkrein/")


@pytest.mark.parametrize(
    ("spec", "key", "accepted"),
    [
        ("sonnet", "sk-ant-abcdefghijklmnop", True),
        ("openai:x", "sk-ant-abcdefghijklmnop", False),
        ("groq:x", "sk-ant-abcdefghijklmnop", False),
        ("openai-chat:x", "sk-proj-abcdefghijklmnop", True),
        ("sonnet", "whatever", False),
    ],
)
def test_configured_key_goes_only_to_its_owner(spec: str, key: str, accepted: bool) -> None:
    settings = ModelSettings(api_key=key)
    if accepted:
        assert choose(spec, settings, {}).model
    else:
        with pytest.raises(AuthError):
            choose(spec, settings, {})
    assert choose(spec, ModelSettings(api_key=key, base_url="https://gateway.example"), {}).model


def test_no_key_in_any_repr() -> None:
    settings = ModelSettings(api_key="sk-ant-abcdefghijklmnop")
    assert "abcdefghijklmnop" not in repr(settings) + repr(choose("sonnet", settings, {}))


def test_files(tmp_path: Any) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"text": "hi"}\n')
    chosen = choose(f"scripted:{script}", env={})
    assert collect(chosen.model.stream(Request(model="m", messages=(user("x"),)), Cancel())).text == "hi"
    with pytest.raises(FileError):
        choose("scripted:/nowhere.jsonl", env={})
    with pytest.raises(FileError):
        choose("replay:/nowhere.jsonl", env={})


def test_local_without_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrein.llm.local.find_spec", lambda name: None)
    with pytest.raises(UsageError) as caught:
        choose("local:/x.gguf", env={})
    assert (caught.value.kind, "checkrein[local]" in (caught.value.hint or "")) == ("extra_missing", True)
    monkeypatch.setattr("checkrein.llm.local.find_spec", lambda name: name)
    with pytest.raises(NotFoundError):
        choose("local:/nowhere.gguf", env={})


def test_every_provider_has_an_example_that_names_it() -> None:
    for name, row in PROVIDERS.items():
        assert row.example.startswith(f"{name}:")
        assert row.base_url == "" or row.base_url.startswith(("https://", "http://127.0.0.1"))
