"""A server for a test: on the mock, at a free port of this machine, with a home of its own."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

PROJECT = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS = 30
END_SECONDS = 10


class Server:
    """A running server; `lines` is what it said on stderr so far."""

    def __init__(self, process):
        self.process = process
        self.lines = []
        self.address = None
        self._found = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip())
            link = re.search(r"http://[0-9.:]+", line)
            if link and self.address is None:
                self.address = link.group()
                self._found.set()
        self._found.set()

    def wait_until_up(self):
        self._found.wait(START_SECONDS)
        if self.address is None:
            raise RuntimeError("the server did not start: " + "\n".join(self.lines))

    def memory(self):
        """Resident bytes, or None where the system does not tell."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return None
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024


@contextlib.contextmanager
def running(binary, mode="inspect", scenario="scenarios/login.yaml", config=None, flags=()):
    """Starts the server, and ends this one process again."""
    with tempfile.TemporaryDirectory(prefix="oso-test-") as home:
        file = pathlib.Path(home, "config.json")
        file.write_text(json.dumps({"tracing": {"dir": f"{home}/traces"}, **(config or {})}))
        command = [binary, "--mode", mode, "--mock", "--port", "0", "--config", str(file)]
        command += ["--scenario", scenario] if scenario else []
        process = subprocess.Popen(
            command + list(flags),
            cwd=PROJECT,
            env={**os.environ, "HOME": home, "XDG_STATE_HOME": home, "XDG_RUNTIME_DIR": home},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if mode == "both" else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        server = Server(process)
        try:
            server.wait_until_up()
            yield server
        finally:
            end(process)


def end(process):
    with contextlib.suppress(OSError):
        process.stdin.close()
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Count:
    """Checks, counted in the form that test.sh adds up."""

    def __init__(self, name):
        self.name = name
        self.passed = 0
        self.failed = 0
        self.started = time.monotonic()

    def check(self, what, holds, detail=""):
        if holds:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED [{self.name}] {what} {detail}", flush=True)

    def end(self):
        seconds = time.monotonic() - self.started
        print(f"{self.name}: {self.passed} passed, {self.failed} failed ({seconds:.0f} s)", flush=True)
        return 1 if self.failed else 0
