"""`checkrein completion`: the script that completes checkrein's commands in a shell."""

from __future__ import annotations

from checkrein.cli.registry import Arg, Command, Outcome

SHELLS = ("bash", "zsh", "fish")

COMMAND = Command(
    name="completion",
    summary="Print the completion script for a shell.",
    args=(Arg(name="shell", type="choice", choices=SHELLS, required=True, help="The shell."),),
    payload=dict[str, str],
    examples=(("checkrein completion bash >> ~/.bashrc", "complete in bash from now on"),),
)


def run(shell: str) -> Outcome:
    from click.shell_completion import get_completion_class

    from checkrein.cli.parser import root
    from checkrein.cli.value_completion import install

    install()
    completion = get_completion_class(shell)
    assert completion is not None
    script = completion(root(), {}, "checkrein", "_CHECKREIN_COMPLETE").source()
    return Outcome(data={"shell": shell, "script": script}, text=lambda: script, is_data=True)
