"""A client of `checkrein machine` with the one error handler all verbs need: machine_client.py VERB ..."""

import json
import subprocess
import sys
import time


class MachineError(Exception):
    """An answer that is not a success. Its one argument is the `error` of the protocol."""


def read(stdout, status):
    """The payload of an answer, or MachineError. Fields that are not known are passed over."""
    try:
        answer = json.loads(stdout)
    except ValueError as error:
        raise MachineError({"kind": "parse_failure", "retryable": False, "message": str(error)}) from error
    if not answer["schema_version"].startswith("2.") or answer["exit_code"] != status:
        raise MachineError({"kind": "protocol_mismatch", "retryable": False, "message": "not schema 2"})
    if "error" in answer:
        raise MachineError(answer["error"])
    if status == 2:  # `details.final_cancel_observed`: the session can be used again
        raise MachineError({"kind": "timeout", "retryable": False, "details": answer["data"]})
    return answer["data"]


def call(*arguments, program=("checkrein",), attempts=3, timeout=600):
    """Call a verb. What may succeed the next time is tried again, a little later."""
    argv = [*program, "machine", *arguments, "--output-format", "json", "--schema-version", "2.0"]
    while True:
        attempts -= 1
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
        try:
            return read(done.stdout, done.returncode)
        except MachineError as failed:
            if attempts <= 0 or done.returncode == 2 or not failed.args[0]["retryable"]:
                raise
        time.sleep(0.5)


if __name__ == "__main__":
    print(json.dumps(call(*sys.argv[1:]), indent=2))
