"""Keys of AWS IAM Identity Center (SSO): the sign-in is the user's, Checkrein only exchanges its token."""

from __future__ import annotations

import configparser
import hashlib
import os
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import urlencode

from checkrein.base import clock
from checkrein.base.errors import AuthError
from checkrein.llm.cloud.sigv4 import AwsKeys
from checkrein.llm.fetch import fetch
from checkrein.llm.values import loads, part

_NEEDED = ("sso_account_id", "sso_role_name", "sso_start_url", "sso_region")


def sso_keys(profile: Mapping[str, str], name: str, env: Mapping[str, str], config: str) -> AwsKeys | None:
    """The keys of a profile's role; None for a profile without SSO. `config` is the file of the profiles,
    which has the sessions too. Raises AuthError when the user has to sign in again."""
    session = profile.get("sso_session")
    if not session and not profile.get("sso_start_url"):
        return None
    values = {**(_session(config, session) if session else {}), **profile}
    missing = [key for key in _NEEDED if not values.get(key)]
    if missing:
        raise AuthError(
            f"The AWS profile {name} lacks {', '.join(missing)}.",
            kind="credentials_missing",
            hint=f"`aws configure sso --profile {name}` writes them.",
        )
    asked = urlencode({"role_name": values["sso_role_name"], "account_id": values["sso_account_id"]})
    base = env.get("AWS_ENDPOINT_URL_SSO") or f"https://portal.sso.{values['sso_region']}.amazonaws.com"
    done = fetch(
        f"{base.rstrip('/')}/federation/credentials?{asked}",
        env=env,
        headers={"x-amz-sso_bearer_token": _token(session or values["sso_start_url"], name, env)},
    )
    answer = part(loads(done.body))
    found = part(answer.get("roleCredentials"))
    access, secret = found.get("accessKeyId"), found.get("secretAccessKey")
    if done.status == 401:
        raise _signed_out(name)
    if not isinstance(access, str) or not isinstance(secret, str):
        said = answer.get("message")
        reason = f": {said}" if isinstance(said, str) else ""
        raise AuthError(
            f"AWS SSO gave no keys for the profile {name} (status {done.status}){reason}.",
            kind="credentials_missing",
            hint="Check sso_account_id and sso_role_name.",
        )
    ends, token = found.get("expiration"), found.get("sessionToken")
    until = ends / 1000 if isinstance(ends, int | float) else None
    return AwsKeys(access, secret, token if isinstance(token, str) else None, until)


def _session(config: str, name: str) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(config, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):
        return {}
    section = f"sso-session {name}"
    return dict(parser.items(section)) if parser.has_section(section) else {}


def _token(key: str, name: str, env: Mapping[str, str]) -> str:
    """The token of the user's last sign-in, from where `aws sso login` keeps it."""
    home = env.get("HOME") or os.path.expanduser("~")
    file = hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest() + ".json"
    try:
        with open(os.path.join(home, ".aws", "sso", "cache", file), "rb") as cache:
            kept = part(loads(cache.read(1 << 20)))
    except OSError:
        raise _signed_out(name) from None
    token, ends = kept.get("accessToken"), kept.get("expiresAt")
    try:
        until = datetime.fromisoformat(str(ends).replace("Z", "+00:00").replace("UTC", "+00:00")).timestamp()
    except ValueError:
        until = 0.0
    if not isinstance(token, str) or until <= clock.now():
        raise _signed_out(name)
    return token


def _signed_out(name: str) -> AuthError:
    return AuthError(
        f"The AWS SSO sign-in of the profile {name} has ended.",
        kind="credentials_missing",
        hint=f"Run `aws sso login --profile {name}`.",
    )
