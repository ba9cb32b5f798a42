"""A client of `bridle machine` with the one error handler that all verbs need: machine_client.py VERB ..."""

import json
import subprocess
import sys
import time


class MachineError(Exception):
    """An answer that is no success. `error` is what a program needs to know of it."""

    def __init__(self, kind, message, retryable=False, **more):
        super().__init__(f"{kind}: {message} {more.get('hint') or ''}".rstrip())
        self.error = {"kind": kind, "message": message, "retryable": retryable, **more}


def read(stdout, status):
    """The payload of an answer, or MachineError. Fields that are not known are passed over."""
    try:
        document = json.loads(stdout)
    except ValueError as error:
        raise MachineError("parse_failure", f"status {status} and no JSON") from error
    if not document["schema_version"].startswith("2.") or document["exit_code"] != status:
        raise MachineError("protocol_mismatch", "not an answer of schema 2")
    if "error" in document:
        raise MachineError(**document["error"])
    if status == 2:
        safe = document["data"]["final_cancel_observed"]
        raise MachineError("timeout", "reuse the session" if safe else "take a new session", safe)
    return document["data"]


def call(*arguments, program=("bridle",), attempts=3, timeout=600):
    """Call a verb. What may succeed the next time is tried again, a little later."""
    argv = [*program, "machine", *arguments, "--output-format", "json", "--schema-version", "2.0"]
    while True:
        attempts -= 1
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        try:
            return read(done.stdout, done.returncode)
        except MachineError as failed:
            if not attempts or failed.error["kind"] == "timeout" or not failed.error["retryable"]:
                raise
            time.sleep(0.5)


if __name__ == "__main__":
    try:
        print(json.dumps(call(*sys.argv[1:]), indent=2))
    except MachineError as failed:
        sys.exit(str(failed))
