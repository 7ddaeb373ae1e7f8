#!/usr/bin/env python3
"""Several builds of the server side by side, over their pipes, on the mock desktop.

    benches/compare.py PROGRAM PROGRAM...        the first one is what the others are compared with

CPU is the server's own (user and system, from /proc), best of some rounds that the builds take in turn, so that a busy
machine spoils little. Also the size of each program, the CPU of a cold start and the memory after it. Linux only.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
DENSE = ["--scenario", str(PROJECT / "scenarios/dense.yaml")]
TICKS = os.sysconf("SC_CLK_TCK")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
STARTS = int(os.environ.get("STARTS", "40"))

# label, flags, tool, arguments, calls in a round
ROWS = [
    ("list_windows", [], "list_windows", {}, 3000),
    ("structure of 2,000 elements", DENSE, "get_window_structure", {"depth": 8}, 100),
    ("sketch of 2,000 elements", DENSE, "get_screen_sketch", {}, 200),
    ("find_element in 2,000 elements", DENSE, "find_element", {"selector": '//CheckBox[name="Counted"]'}, 1500),
    ("screenshot 800x600, PNG", [], "get_screenshot", {"window_index": 0}, 200),
    ("screenshot 800x600, JPEG", [], "get_screenshot", {"window_index": 0, "format": "jpeg"}, 100),
    ("screenshot 800x600, WebP", [], "get_screenshot", {"window_index": 0, "format": "webp"}, 50),
    ("screenshot with grid and marks", [], "get_screenshot", {"window_index": 0, "grid": {}, "marks": True}, 100),
    ("screenshot of the screen, PNG", [], "get_screenshot", {}, 50),
]


class Server:
    def __init__(self, program, flags):
        self.home = tempfile.TemporaryDirectory()
        config = Path(self.home.name, "config.json")
        config.write_text("{}")
        environment = {"HOME": self.home.name, "XDG_STATE_HOME": self.home.name, "PATH": os.environ["PATH"]}
        command = [program, "--mode", "mcp", "--mock", "--config", str(config), *flags]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.number = 0
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "compare", "version": "1"}}
        self.ask("initialize", client)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the server ended")
            if b'"id":%d' % self.number in line[:60] or json.loads(line).get("id") == self.number:
                return line

    def cpu(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def cpu_of_a_start(self):
        """In milliseconds, as the scheduler counts it: a start is shorter than a tick."""
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6

    def memory(self):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.home.cleanup()


def starts(program):
    cpu, memory = [], []
    for _ in range(STARTS):
        server = Server(program, [])
        cpu.append(server.cpu_of_a_start())
        server.ask("tools/list", {})
        memory.append(server.memory())
        server.close()
    return sorted(cpu)[len(cpu) // 2], sorted(memory)[len(memory) // 2]


def calls(programs, flags, tool, arguments, count):
    servers = [Server(program, flags) for program in programs]
    best = [float("inf")] * len(servers)
    for _ in range(ROUNDS):
        for index, server in enumerate(servers):
            before = server.cpu()
            for _ in range(count):
                reply = server.ask("tools/call", {"name": tool, "arguments": arguments})
            assert b'"isError":true' not in reply, reply[:400]
            best[index] = min(best[index], (server.cpu() - before) / count * 1000)
    for server in servers:
        server.close()
    return best


def row(label, values, unit):
    cells = [f"{values[0]:.3f} {unit}"] + [f"{value:.3f} ({value / values[0]:.2f})" for value in values[1:]]
    print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def main(programs):
    print("| | " + " | ".join(programs) + " |\n|---|" + "---|" * len(programs))
    row("size", [os.path.getsize(program) / 1e6 for program in programs], "MB")
    started = [starts(program) for program in programs]
    row("cold start to `initialize`, CPU", [cpu for cpu, _ in started], "ms")
    row("memory after `tools/list`", [memory for _, memory in started], "MB")
    for label, flags, tool, arguments, count in ROWS:
        row(label, calls(programs, flags, tool, arguments, count), "ms")


if len(sys.argv) < 2:
    raise SystemExit(__doc__)
main(sys.argv[1:])
