"""The tree of failures that reach a user.

    CheckreinError
    ├── UsageError           the command line or an argument is wrong
    ├── NotFoundError        a named thing does not exist
    ├── ConfigError          a configuration value is wrong
    ├── FileError            a file can't be read or written
    ├── PolicyError          a rule, a mode or missing trust refuses
    ├── AuthError            a credential is missing or refused
    ├── ModelError           a model endpoint failed
    ├── SessionError         a session can't be loaded, written or locked
    ├── TimeLimitError       a time limit passed
    ├── RunError             a run ended without the requested result
    └── InternalError        a bug of ours

`kind` is the specific, stable token a client may match on; `error_class` says what a client does about it.
`operation` names the action that failed, `target` its object; `details` are facts for programs.
Broken files of a project are never exceptions: they become Diagnostics.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self, get_args

from checkrein.base.origin import Origin

ErrorClass = Literal[
    "usage", "not_found", "config", "filesystem", "policy", "auth", "model", "session", "timeout", "runtime"
]
ERROR_CLASSES: tuple[ErrorClass, ...] = get_args(ErrorClass)


class CheckreinError(Exception):
    error_class: ClassVar[ErrorClass] = "runtime"
    default_kind: ClassVar[str] = "runtime"
    exit_status: ClassVar[int] = 1

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        hint: str | None = None,
        retryable: bool = False,
        origin: Origin | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.default_kind
        self.hint = hint
        self.retryable = retryable
        self.origin = origin
        self.operation: str | None = None
        self.target: str | None = None
        self.details: dict[str, Any] = {}

    def during(self, operation: str, target: str | None = None, **details: Any) -> Self:
        """The same error with the failed action. Values that were set closer to its origin stay."""
        self.operation = self.operation or operation
        self.target = self.target or target
        self.details = {**details, **self.details}
        return self


class UsageError(CheckreinError):
    error_class = "usage"
    default_kind = "usage"
    exit_status = 2


class NotFoundError(CheckreinError):
    error_class = "not_found"
    default_kind = "not_found"


class ConfigError(CheckreinError):
    error_class = "config"
    default_kind = "config_invalid"
    exit_status = 2


class FileError(CheckreinError):
    error_class = "filesystem"
    default_kind = "filesystem"


class PolicyError(CheckreinError):
    error_class = "policy"
    default_kind = "policy_refused"


class AuthError(CheckreinError):
    error_class = "auth"
    default_kind = "credentials_missing"


class ModelError(CheckreinError):
    error_class = "model"
    default_kind = "model_failed"


class SessionError(CheckreinError):
    error_class = "session"
    default_kind = "session_load_failed"


class TimeLimitError(CheckreinError):
    error_class = "timeout"
    default_kind = "timeout"


class RunError(CheckreinError):
    """`kind` is the result's terminal reason; `details["result"]` is the result."""

    default_kind = "run_failed"


class InternalError(CheckreinError):
    default_kind = "internal"
