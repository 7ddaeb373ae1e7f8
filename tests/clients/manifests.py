"""Checks the files that tell clients and registries how to start the server: server.json and the example
configuration of Claude Desktop. They repeat facts of Cargo.toml, and nothing else would notice a stale copy."""

import json
import re
import sys

from checks import PROJECT, Report


def cargo_value(key):
    """A string of the [package] section, which comes first in Cargo.toml."""
    return re.search(rf'^{key} = "(.*)"$', (PROJECT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def read_json(name):
    return json.loads((PROJECT / name).read_text(encoding="utf-8"))


def check_server_json(report):
    server, name, version = read_json("server.json"), cargo_value("name"), cargo_value("version")
    report.check("server.json: version of Cargo.toml", server["version"] == version, server["version"])
    report.check("server.json: a namespace and the name", re.fullmatch(rf"[a-zA-Z0-9.-]+/{name}", server["name"]), server["name"])
    report.check("server.json: 1 to 100 characters of description", 1 <= len(server["description"]) <= 100, len(server["description"]))
    for package in server["packages"]:
        report.check("server.json: the crate", (package["registryType"], package["identifier"]) == ("cargo", name), package)
        report.check("server.json: version of the crate", package["version"] == version, package["version"])
        report.check("server.json: stdio", package["transport"] == {"type": "stdio"}, package["transport"])


def check_example_configuration(report):
    servers = read_json("claude_desktop_config.example.json")["mcpServers"]
    modes = sorted("--mock" in entry["args"] for entry in servers.values())
    report.check("the example has a real and a mock entry", modes == [False, True], servers)
    for name, entry in servers.items():
        report.check(f"{name}: serves MCP on stdio", entry["args"][:2] == ["--mode", "mcp"], entry)
        report.check(f"{name}: an absolute path to the binary", re.fullmatch(r"/.*/os-screen-observer", entry["command"]), entry)


if __name__ == "__main__":
    report = Report("manifests")
    check_server_json(report)
    check_example_configuration(report)
    print(f"manifests: {report.passed} passed, {report.failed} failed")
    sys.exit(0 if report.failed == 0 else 1)
