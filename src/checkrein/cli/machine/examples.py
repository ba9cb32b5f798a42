"""One command line for each verb of the protocol, as `--help` shows it."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "list-sessions": ("list-sessions --json", "the sessions of this directory"),
    "delete-session": ("delete-session 3f2a9c --json", "also succeeds when it is gone already"),
    "load-session": ("load-session 3f2a9c --json", "its messages and tokens, counted"),
    "flush-transcript": ("flush-transcript 'note this' --json", "a session with one prompt"),
    "show-command": ("show-command review --json", "where the command comes from"),
    "show-tool": ("show-tool Bash --json", "the tool and the schema of its input"),
    "exec-command": ("exec-command review 'the last commit' --json", "the text that it expands to"),
    "exec-tool": ('exec-tool Read \'{"file_path": "README.md"}\'', "through the gate"),
    "route": ("route 'review my changes' --json", "the commands and tools that fit"),
    "bootstrap": ("bootstrap 'summarise README.md' --model sonnet", "one prompt, with all that it needs"),
    "command-graph": ("command-graph --json", "all commands by their source"),
    "tool-pool": ("tool-pool --json", "what a session offers its model"),
    "bootstrap-graph": ("bootstrap-graph --json", "the stages of a start"),
    "turn-loop": ("turn-loop 'fix it' --model sonnet --timeout-seconds 60", "prompts within limits"),
    "summary": ("summary", "the project on one page"),
    "manifest": ("manifest --json", "all verbs"),
    "parity-audit": ("parity-audit", "which behaviours of other harnesses are here"),
    "setup-report": ("setup-report --model ollama:qwen3:8b", "what this machine has and lacks"),
    "subsystems": ("subsystems --limit 5", "the parts of Checkrein"),
    "commands": ("commands --query review", "commands whose text has the word"),
    "tools": ("tools --deny-prefix mcp__", "the tools without those of servers"),
    "remote-mode": ("remote-mode build-host --json", "answers `not_implemented`"),
    "ssh-mode": ("ssh-mode build-host --json", "answers `not_implemented`"),
    "teleport-mode": ("teleport-mode build-host --json", "answers `not_implemented`"),
    "direct-connect-mode": ("direct-connect-mode build-host --json", "answers `not_implemented`"),
    "deep-link-mode": ("deep-link-mode build-host --json", "answers `not_implemented`"),
}
