"""Where model requests go: `provider:name` chooses a row of this table."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ProviderKind = Literal[
    "anthropic",
    "bedrock",
    "vertex",
    "foundry",
    "azure",
    "chat",
    "responses",
    "local",
    "scripted",
    "replay",
]
FILE_KINDS: frozenset[ProviderKind] = frozenset({"local", "scripted", "replay"})
"""Providers whose models are files."""


class Provider(Struct, frozen=True):
    """The first variable of `key_variables` that is set gives the key. Without a key, requests still go out
    when `key_needed` is false. `url_variables` override `base_url`. `limit_field` is a chat endpoint's name
    for max_tokens, `reasoning_field` its field for the model's earlier reasoning. `start` says how to start
    the server of a provider that is on this machine. A recording that is not `strict` also answers requests
    that have changed."""

    kind: ProviderKind
    base_url: str = ""
    url_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    key_needed: bool = True
    limit_field: str = "max_tokens"
    reasoning_field: str | None = None
    cache_key: bool = False
    default_model: str | None = None
    example: str = ""
    start: str | None = None
    strict: bool = True


PROVIDERS: dict[str, Provider] = {
    "anthropic": Provider(
        "anthropic",
        "https://api.anthropic.com",
        url_variables=("ANTHROPIC_BASE_URL",),
        key_variables=("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"),
        default_model="default",
        example="anthropic:sonnet",
    ),
    "bedrock": Provider(
        "bedrock",
        url_variables=("ANTHROPIC_BEDROCK_BASE_URL",),
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        default_model="default",
        example="bedrock:sonnet",
    ),
    "vertex": Provider(
        "vertex",
        url_variables=("ANTHROPIC_VERTEX_BASE_URL",),
        default_model="default",
        example="vertex:sonnet",
    ),
    "foundry": Provider(
        "foundry",
        url_variables=("ANTHROPIC_FOUNDRY_BASE_URL",),
        key_variables=("ANTHROPIC_FOUNDRY_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_API_KEY"),
        default_model="default",
        example="foundry:sonnet",
    ),
    "openai": Provider(
        "responses",
        "https://api.openai.com/v1",
        url_variables=("OPENAI_BASE_URL",),
        key_variables=("OPENAI_API_KEY",),
        default_model="gpt-6.1-sol",
        example="openai:gpt-6.1-sol",
    ),
    "openai-responses": Provider(
        "responses",
        "https://api.openai.com/v1",
        url_variables=("OPENAI_BASE_URL",),
        key_variables=("OPENAI_API_KEY",),
        example="openai-responses:gpt-6.1-sol",
    ),
    "openai-chat": Provider(
        "chat",
        "https://api.openai.com/v1",
        url_variables=("OPENAI_BASE_URL",),
        key_variables=("OPENAI_API_KEY",),
        limit_field="max_completion_tokens",
        cache_key=True,
        example="openai-chat:gpt-4.1",
    ),
    "azure": Provider(
        "azure",
        url_variables=("AZURE_OPENAI_ENDPOINT",),
        key_variables=("AZURE_OPENAI_API_KEY",),
        limit_field="max_completion_tokens",
        example="azure:DEPLOYMENT",
    ),
    "openrouter": Provider(
        "chat",
        "https://openrouter.ai/api/v1",
        key_variables=("OPENROUTER_API_KEY",),
        reasoning_field="reasoning",
        example="openrouter:vendor/model",
    ),
    "ollama": Provider(
        "chat",
        "http://127.0.0.1:11434/v1",
        url_variables=("OLLAMA_BASE_URL", "OLLAMA_HOST"),
        key_needed=False,
        example="ollama:qwen3:8b",
        start="Start it with `ollama serve`; `ollama pull qwen3:8b` gets a model.",
    ),
    "vllm": Provider(
        "chat",
        "http://127.0.0.1:8000/v1",
        url_variables=("VLLM_BASE_URL",),
        key_variables=("VLLM_API_KEY",),
        key_needed=False,
        reasoning_field="reasoning_content",
        example="vllm:MODEL",
        start="Start it with `vllm serve MODEL`.",
    ),
    "llamacpp": Provider(
        "chat",
        "http://127.0.0.1:8080/v1",
        url_variables=("LLAMACPP_BASE_URL",),
        key_needed=False,
        reasoning_field="reasoning_content",
        example="llamacpp:MODEL",
        start="Start it with `llama-server -m FILE.gguf`.",
    ),
    "lmstudio": Provider(
        "chat",
        "http://127.0.0.1:1234/v1",
        url_variables=("LMSTUDIO_BASE_URL",),
        key_needed=False,
        example="lmstudio:MODEL",
        start="Start its server with `lms server start`.",
    ),
    "deepseek": Provider(
        "chat",
        "https://api.deepseek.com/v1",
        key_variables=("DEEPSEEK_API_KEY",),
        reasoning_field="reasoning_content",
        example="deepseek:deepseek-chat",
    ),
    "gemini": Provider(
        "chat",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        example="gemini:NAME",
    ),
    "groq": Provider(
        "chat", "https://api.groq.com/openai/v1", key_variables=("GROQ_API_KEY",), example="groq:NAME"
    ),
    "mistral": Provider(
        "chat", "https://api.mistral.ai/v1", key_variables=("MISTRAL_API_KEY",), example="mistral:NAME"
    ),
    "xai": Provider("chat", "https://api.x.ai/v1", key_variables=("XAI_API_KEY",), example="xai:NAME"),
    "local": Provider("local", key_needed=False, example="local:path/to/model.gguf"),
    "scripted": Provider("scripted", key_needed=False, example="scripted:path/to/script.jsonl"),
    "replay": Provider("replay", key_needed=False, example="replay:path/to/cassette.jsonl"),
    "replay-loose": Provider(
        "replay", key_needed=False, example="replay-loose:path/to/cassette.jsonl", strict=False
    ),
}

SWITCHES: dict[str, str] = {
    "bedrock": "CLAUDE_CODE_USE_BEDROCK",
    "vertex": "CLAUDE_CODE_USE_VERTEX",
    "foundry": "CLAUDE_CODE_USE_FOUNDRY",
}
"""Provider to the variable that makes it the one for Claude models, highest precedence first."""

SKIPS: dict[str, str] = {name: f"CLAUDE_CODE_SKIP_{name.upper()}_AUTH" for name in SWITCHES}
"""Provider to the variable that leaves the credential to a gateway."""

CREDENTIALS: frozenset[str] = frozenset(
    {name for provider in PROVIDERS.values() for name in provider.key_variables}
    | {"ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "CHECKREIN_MODEL__API_KEY"}
    | {"CHECKREIN_SERVE__TOKEN"}
    | {"MCP_CLIENT_SECRET", "MCP_ID_TOKEN"}
)
"""Variables with Checkrein's own credentials. No child gets them, and their values are always masked."""
