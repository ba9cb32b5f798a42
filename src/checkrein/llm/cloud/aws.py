"""Credentials of AWS, in the order of its own tools: the setting `awsCredentialExport`, the environment,
a web identity, a profile, a container's or a machine's role."""

from __future__ import annotations

import configparser
import os
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from checkrein.base import clock
from checkrein.base.errors import AuthError
from checkrein.llm.cloud.aws_sso import sso_keys
from checkrein.llm.cloud.helper import RunHelper, printed_object
from checkrein.llm.cloud.sigv4 import AwsKeys, signed
from checkrein.llm.credential import Outgoing
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.fetch import fetch
from checkrein.llm.values import loads, part

EXPORT = "awsCredentialExport"
REFRESH = "awsAuthRefresh"
_REGION = "us-east-1"
_EARLY = 300.0
_METADATA = "http://169.254.169.254"
_CONTAINER = "http://169.254.170.2"
_METADATA_SECONDS = 1.0
_ROLE_KEYS = ("role_arn", "source_profile")
_HINT = (
    "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; "
    "`aws sts get-caller-identity` shows whether they work."
)

Found = tuple[str, AwsKeys]


class AwsCredential:
    """Signs requests for one service and region. The keys are kept until they end."""

    def __init__(
        self,
        env: Mapping[str, str],
        run: RunHelper,
        helpers: frozenset[str],
        *,
        region: str,
        service: str = "bedrock",
    ) -> None:
        self.source = source_of(env, helpers)
        self._env, self._run, self._helpers = env, run, helpers
        self._region, self._service = region, service
        self._lock = threading.Lock()
        self._keys: AwsKeys | None = None
        self._refreshed = False

    def headers(self, request: Outgoing) -> Mapping[str, str]:
        return signed(
            self._held(),
            method=request.method,
            host=request.host,
            path=request.path,
            body=request.body,
            region=self._region,
            service=self._service,
            at=datetime.fromtimestamp(clock.now(), UTC).strftime("%Y%m%dT%H%M%SZ"),
        )

    def secrets(self) -> tuple[str, ...]:
        keys = self._keys
        return () if keys is None else tuple(x for x in (keys.secret, keys.session) if x)

    def renew(self) -> bool:
        """Sign in again, if a setting says how; then look for the keys again."""
        with self._lock:
            had, self._keys = self._keys, None
            if REFRESH in self._helpers and not self._refreshed:
                self._refreshed = True
                self._run(REFRESH)
                return True
        return had is not None and had.session is not None

    def _held(self) -> AwsKeys:
        with self._lock:
            keys = self._keys
            if keys is None or (keys.until is not None and clock.now() > keys.until - _EARLY):
                keys = self._keys = keys_of(self._env, self._run, self._helpers)
            return keys


def region_of(env: Mapping[str, str]) -> str:
    return env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or _profile(env).get("region") or _REGION


def source_of(env: Mapping[str, str], helpers: frozenset[str]) -> str:
    """Where the keys come from, in words, without asking for them."""
    if EXPORT in helpers:
        return EXPORT
    if env.get("AWS_ACCESS_KEY_ID"):
        return "AWS_ACCESS_KEY_ID"
    if env.get("AWS_WEB_IDENTITY_TOKEN_FILE"):
        return "AWS_WEB_IDENTITY_TOKEN_FILE"
    profile = env.get("AWS_PROFILE")
    if profile or _profile(env):
        return f"AWS profile {profile or 'default'}"
    if _container_url(env):
        return "the container's role"
    return "the machine's role"


def keys_of(env: Mapping[str, str], run: RunHelper, helpers: frozenset[str]) -> AwsKeys:
    """The first keys that are there. Raises AuthError when there are none."""
    if EXPORT in helpers:
        said = printed_object(run, EXPORT)
        return _keys(part(said.get("Credentials")) or said, EXPORT)
    access, secret = env.get("AWS_ACCESS_KEY_ID"), env.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        return AwsKeys(access.strip(), secret.strip(), (env.get("AWS_SESSION_TOKEN") or "").strip() or None)
    sources: tuple[Callable[[], AwsKeys | None], ...] = (
        lambda: _web_identity(env),
        lambda: _from_profile(env, run),
        lambda: _container(env),
        lambda: _machine(env),
    )
    for source in sources:
        found = source()
        if found is not None:
            return found
    raise AuthError("No AWS credentials found.", kind="credentials_missing", hint=_HINT)


def _keys(said: Mapping[str, Any], where: str) -> AwsKeys:
    access, secret = said.get("AccessKeyId"), said.get("SecretAccessKey")
    if not isinstance(access, str) or not isinstance(secret, str):
        raise AuthError(f"{where} gave no AWS keys.", kind="credentials_missing", hint=_HINT)
    session = said.get("SessionToken") or said.get("Token")
    ends = said.get("Expiration")
    return AwsKeys(access, secret, session if isinstance(session, str) else None, _seconds(ends))


def _seconds(ends: object) -> float | None:
    if not isinstance(ends, str):
        return None
    try:
        return datetime.fromisoformat(ends.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def _profile(env: Mapping[str, str]) -> dict[str, str]:
    """The values of the profile in the shared files; those of the credentials file come first."""
    name = _profile_name(env)
    found: dict[str, str] = {}
    for variable, file, section in (
        ("AWS_CONFIG_FILE", "config", name if name == "default" else f"profile {name}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "credentials", name),
    ):
        parser = configparser.RawConfigParser()
        try:
            parser.read(_file(env, variable, file), encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue
        found |= dict(parser.items(section)) if parser.has_section(section) else {}
    return found


def _profile_name(env: Mapping[str, str]) -> str:
    return env.get("AWS_PROFILE") or env.get("AWS_DEFAULT_PROFILE") or "default"


def _file(env: Mapping[str, str], variable: str, name: str) -> str:
    home = env.get("HOME") or os.path.expanduser("~")
    return env.get(variable) or os.path.join(home, ".aws", name)


def _from_profile(env: Mapping[str, str], run: RunHelper) -> AwsKeys | None:
    values = _profile(env)
    if values.get("aws_access_key_id") and values.get("aws_secret_access_key"):
        return AwsKeys(
            values["aws_access_key_id"], values["aws_secret_access_key"], values.get("aws_session_token")
        )
    if values.get("credential_process"):
        import shlex

        return _keys(
            printed_object(run, tuple(shlex.split(values["credential_process"]))), "credential_process"
        )
    name = _profile_name(env)
    found = sso_keys(values, name, env, _file(env, "AWS_CONFIG_FILE", "config"))
    if found is not None:
        return found
    if any(key in values for key in _ROLE_KEYS):
        command = ("aws", "configure", "export-credentials", "--profile", name, "--format", "process")
        return _keys(printed_object(run, command), f"AWS profile {name}")
    if env.get("AWS_PROFILE"):
        raise AuthError(
            f"The AWS profile {env['AWS_PROFILE']} has no credentials.",
            kind="credentials_missing",
            hint=_HINT,
        )
    return None


def _web_identity(env: Mapping[str, str]) -> AwsKeys | None:
    file, role = env.get("AWS_WEB_IDENTITY_TOKEN_FILE"), env.get("AWS_ROLE_ARN")
    if not file or not role:
        return None
    identity = _read(file)
    asked = {
        "Action": "AssumeRoleWithWebIdentity",
        "Version": "2011-06-15",
        "RoleArn": role,
        "RoleSessionName": env.get("AWS_ROLE_SESSION_NAME") or "checkrein",
        "WebIdentityToken": identity,
    }
    url = env.get("AWS_ENDPOINT_URL_STS") or f"https://sts.{region_of(env)}.amazonaws.com"
    headers = {"accept": "application/json", "content-type": "application/x-www-form-urlencoded"}
    done = fetch(f"{url}/", env=env, method="POST", headers=headers, body=urlencode(asked).encode())
    answer = part(loads(done.body))
    if done.status != 200:
        refused = part(answer.get("Error"))
        why = f"{refused.get('Code', 'unknown')}: {refused.get('Message', 'no reason')}"
        raise AuthError(
            f"AWS refused the web identity in {file} (status {done.status}). {why}",
            kind="credentials_missing",
            hint=f"Check AWS_ROLE_ARN ({role}), and that the token is fresh.",
        )
    result = part(
        part(answer.get("AssumeRoleWithWebIdentityResponse")).get("AssumeRoleWithWebIdentityResult")
    )
    return _keys(part(result.get("Credentials")), "The web identity of AWS")


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as handle:
            return handle.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise AuthError(f"{file} can't be read: {reason}.", kind="credentials_missing") from None


def _container_url(env: Mapping[str, str]) -> str | None:
    relative = env.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    return f"{_CONTAINER}{relative}" if relative else env.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")


def _container(env: Mapping[str, str]) -> AwsKeys | None:
    url = _container_url(env)
    if not url:
        return None
    token = env.get("AWS_CONTAINER_AUTHORIZATION_TOKEN")
    file = env.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
    if file:
        token = _read(file)
    done = fetch(url, env=env, headers={"authorization": token} if token else {})
    return _keys(part(loads(done.body)), "The container's role")


def _machine(env: Mapping[str, str]) -> AwsKeys | None:
    if env.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    base = env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT") or _METADATA
    roles = f"{base.rstrip('/')}/latest/meta-data/iam/security-credentials/"
    try:
        asked = {"x-aws-ec2-metadata-token-ttl-seconds": "21600"}
        url = f"{base.rstrip('/')}/latest/api/token"
        token = fetch(url, env={}, method="PUT", headers=asked, seconds=_METADATA_SECONDS)
        headers = {"x-aws-ec2-metadata-token": token.body.decode("ascii", "replace")}
        role = fetch(roles, env={}, headers=headers, seconds=_METADATA_SECONDS)
        if role.status != 200 or not role.body.strip():
            return None
        name = role.body.decode("utf-8", "replace").split("\n")[0].strip()
        done = fetch(f"{roles}{name}", env={}, headers=headers, seconds=_METADATA_SECONDS)
    except ModelRequestError:
        return None
    return _keys(part(loads(done.body)), "The machine's role")
