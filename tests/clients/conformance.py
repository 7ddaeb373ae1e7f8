"""Runs the protocol's own conformance suite against /mcp, as test.sh does.

    conformance.py SERVER               (CONFORMANCE_BIN: the folder with `conformance` and its `node`)

SERVER is a build with the feature `conformance`: the tools, resources and prompts that the suite calls by name stand
on the same handler, at /mcp/fixtures. It has to meet everything that the two eras require, but for what
conformance-expected.yml lists with a reason; an entry that is no longer needed is a failure too. What
users have is at /mcp; it meets what the suite asks of any server.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from running import Count, running

HERE = pathlib.Path(__file__).resolve().parent
ERAS = ["2025-11-25", "2026-07-28"]
# What needs no tool, resource or prompt of the suite's own, and the era whose requests it makes.
OF_ANY_SERVER = [
    ("server-initialize", "2025-11-25"),
    ("ping", "2025-11-25"),
    ("tools-list", "2025-11-25"),
    ("resources-list", "2025-11-25"),
    ("prompts-list", "2025-11-25"),
    ("server-sse-multiple-streams", "2025-11-25"),
    ("dns-rebinding-protection", "2025-11-25"),
    ("server-session-lifecycle", "2025-11-25"),
    ("tools-list", "2026-07-28"),
    ("resources-list", "2026-07-28"),
    ("prompts-list", "2026-07-28"),
    ("caching", "2026-07-28"),
    ("sep-2164-resource-not-found", "2026-07-28"),
    ("server-sse-multiple-streams", "2026-07-28"),
    ("dns-rebinding-protection", "2026-07-28"),
    ("http-header-validation", "2026-07-28"),
    ("input-required-result-unsupported-methods", "2026-07-28"),
    ("input-required-result-ignore-extra-params", "2026-07-28"),
]


def suite(server, path, *arguments):
    """Exit status, output, and whether each scenario was met. The colours are taken out."""
    binaries = os.environ.get("CONFORMANCE_BIN", "")
    environment = {**os.environ, "PATH": binaries + os.pathsep + os.environ["PATH"], "NO_COLOR": "1"}
    command = ["conformance", "server", "--url", server.address + path, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, timeout=300)
    output = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout + ended.stderr)
    met = {name: sign == "✓" for sign, name in re.findall(r"^([✓✗]) ([\w-]+): \d+ passed", output, re.MULTILINE)}
    return ended.returncode, output, met


def shown(output):
    # In other words than test.sh counts.
    return "\n" + output.replace(" passed,", " met,").replace(" failed", " not met")


def required_of_the_era(server, era, count):
    expected = HERE / f"conformance-expected-{era}.yml"
    status, output, met = suite(server, "/mcp/fixtures", "--requirements", era, "--expected-failures", str(expected))
    count.passed += sum(met.values())
    print(f"{era}: {sum(met.values())} of {len(met)} scenarios are met; the others are expected or not scored")
    count.check(f"{era}: everything required is met or expected", status == 0 and len(met) > 30, shown(output))


def asked_of_any_server(server, count):
    for scenario, era in OF_ANY_SERVER:
        status, output, _ = suite(server, "/mcp", "--scenario", scenario, "--spec-version", era)
        count.check(f"{scenario} at {era}", status == 0, shown(output))


def main():
    count = Count("conformance")
    program = sys.argv[1]
    with running(program) as server:
        for era in ERAS:
            required_of_the_era(server, era, count)
    with running(program) as server:
        asked_of_any_server(server, count)
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
