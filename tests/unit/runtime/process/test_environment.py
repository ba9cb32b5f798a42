from __future__ import annotations

import pytest

from checkrein.runtime.process.environment import child_env, hook_env, needs_approval, shell_env

GUARDED = [
    *("PATH", "path", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "IFS"),
    *("GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT"),
    *("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "MY_SERVICE_BASE_URL"),
    *("HTTPS_PROXY", "https_proxy", "AWS_PROFILE", "GITHUB_TOKEN", "DB_PASSWORD", "CHECKREIN_HOME", "HOME"),
    *("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "JAVA_TOOL_OPTIONS", "PIP_INDEX_URL", "OTEL_EXPORTER"),
]
HARMLESS = ["NODE_ENV", "DEBUG", "LANG", "TZ", "MY_FLAG", "FOO_BAR", "BASH_MAX_OUTPUT_LENGTH_X", "CI"]


@pytest.mark.parametrize("name", GUARDED)
def test_a_project_cannot_set_it_on_its_own_word(name: str) -> None:
    assert needs_approval(name)
    env, refused = child_env({name: "mine"}, {name: "theirs"})
    assert (env[name], refused) == ("mine", (name,))
    env, refused = child_env({name: "mine"}, {name: "theirs"}, {name})
    assert (env[name], refused) == ("theirs", ())


@pytest.mark.parametrize("name", [name for name in HARMLESS if not name.startswith("BASH_")])
def test_other_variables_are_set(name: str) -> None:
    assert child_env({}, {name: "x"}) == ({name: "x"}, ())


def test_what_is_no_variable_is_left_out() -> None:
    assert child_env({}, {"A=B": "x", "": "x", "C": "x\0y"}) == ({}, ("", "A=B", "C"))


def test_the_shell_gets_nothing_that_changes_how_it_reads() -> None:
    given = {
        "PATH": "/bin",
        "BASH_ENV": "x",
        "ENV": "x",
        "BASH_FUNC_ls%%": "() { :; }",
        "SHELLOPTS": "xtrace",
        "PS4": "$(x)",
        "CDPATH": "/",
        "BASH_DEFAULT_TIMEOUT_MS": "5",
    }
    assert shell_env(given) == {"PATH": "/bin", "BASH_DEFAULT_TIMEOUT_MS": "5"}


def test_hooks_get_no_telemetry_settings() -> None:
    assert hook_env({"OTEL_EXPORTER_OTLP_HEADERS": "key", "BASH_ENV": "x", "A": "1"}) == {"A": "1"}


def test_the_base_is_not_changed() -> None:
    base = {"A": "1"}
    child_env(base, {"A": "2"})
    assert base == {"A": "1"}
