"""Holds the server to its own OpenAPI document: a validator reads it, schemathesis asks every route.

    openapi.py SERVER
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from openapi_checks import is_about_shape
from openapi_spec_validator import OpenAPIV31SpecValidator
from running import Count, running

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "a-token-for-this-test-only"
# Short waits, since nothing happens that ends one; no budgets, since every route is asked many times.
CONFIG = {"web_ui": {"token": TOKEN}, "wait_for": {"max_timeout_ms": 100}, "ocr": {"enabled": False}}

# Calls whose shape is wrong, each in another way.
MISSHAPEN = [
    ("find_element", "{}"),
    ("click_at", '{"x": "1", "y": 1}'),
    ("click_at", '{"x": 1, "y": 99999}'),
    ("click_at", '{"x": 1, "y": 1, "button": "upper"}'),
    ("click_at", '{"x": 1, "y": 1, "z": 1}'),
    ("find_element", json.dumps({"selector": "a" * 5000})),
    ("list_windows", "[]"),
    ("list_windows", "{"),
]


def ask(server, path, body=None):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(server.address + path, body.encode() if body else None, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def refused_shapes_are_known(server, count):
    for tool, body in MISSHAPEN:
        status, reply = ask(server, f"/api/tool/{tool}", body)
        count.check(f"{tool} {body[:60]} is refused by its shape", status == 400 and is_about_shape(reply), reply)


def document_is_valid(server, count):
    _, document = ask(server, "/api/openapi.json")
    problems = list(OpenAPIV31SpecValidator(document).iter_errors())
    count.check("the document is valid", not problems, "; ".join(str(problem)[:300] for problem in problems[:5]))


def walk(server, count, folder):
    """Every operation is one test: it passes if nothing at all was found at it."""
    report = pathlib.Path(folder, "report.json")
    program = pathlib.Path(sys.executable).parent / "schemathesis"
    command = [program, "--config-file", HERE / "schemathesis.toml", "run", f"{server.address}/api/openapi.json"]
    command += ["--no-color", "--continue-on-failure", "--report", "json", "--report-json-path", report]
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "openapi_checks", "OSO_TEST_TOKEN": TOKEN}
    walked = subprocess.run(
        command, cwd=folder, env={**environment, "PYTHONPATH": str(HERE)}, text=True, capture_output=True
    )
    if not report.exists():
        return count.check("schemathesis runs", False, walked.stdout[-3000:] + walked.stderr[-3000:])
    found = json.loads(report.read_text())
    faulty = {operation for fault in found["failures"] + found["errors"] for operation in fault["operations"]}
    if faulty or walked.returncode != 0:
        print(walked.stdout)
    asked, requests = found["operations"]["tested"], found["test_cases"]["generated"]
    print(f"{requests} requests to {asked} operations")
    count.passed += asked - len(faulty)
    count.failed += len(faulty)
    count.check("schemathesis is content", walked.returncode == 0)
    # All but the stream of events, and each with many of its edge cases.
    count.check("every operation was asked", asked == found["operations"]["total"] - 1 and asked > 100, asked)
    count.check("each was asked in many ways", requests > 40 * asked, requests)


def main():
    count = Count("openapi")
    with tempfile.TemporaryDirectory() as folder:
        with running(sys.argv[1], config=CONFIG, flags=["--steered-clock"]) as server:
            document_is_valid(server, count)
            refused_shapes_are_known(server, count)
            walk(server, count, folder)
            count.check("the server is still up", ask(server, "/api/healthz")[0] == 200)
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
