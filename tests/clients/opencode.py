"""OpenCode's real program plans a job, with a model of ours behind it that answers what is written here.

    opencode.py SERVER OPENCODE

Once by OpenCode's server (the planner `opencode`), once by its command line with our MCP server as its only tool (the
planner `cli`). No key and no other computer is needed.
"""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from running import PROJECT, Count

PASSWORD = "a password of this test"
ACT = {"steps": [
    {"do": "set_value", "selector": 'Edit[name="Username"]', "value": "alice"},
    {"do": "click_element", "selector": 'Button[name="Login"]'},
]}
STEPS = [("look", {}), ("act", ACT), ("task_complete", {"result": "ok"})]
SECONDS = 120


class Model(http.server.BaseHTTPRequestHandler):
    """A model that makes the steps in their order, as structured answers or as calls of MCP tools."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [tool["function"]["name"] for tool in asked.get("tools", [])]
        self.server.asked.append((tools, asked))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        delta, finish = self.answer(tools)
        chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
                 "prompt_tokens_details": {"cached_tokens": 40}}
        self.say({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.say({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage})
        self.wfile.write(b"data: [DONE]\n\n")

    def say(self, chunk):
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def answer(self, tools):
        ours = [name for name in tools if name.startswith("desktop")]
        if not ours and "StructuredOutput" not in tools:
            return {"role": "assistant", "content": "A title"}, "stop"
        step = self.server.step
        self.server.step += 1
        if step >= len(STEPS):
            return {"role": "assistant", "content": "Done."}, "stop"
        tool, arguments = STEPS[step]
        if ours:
            name = next((name for name in ours if name.endswith(tool)), ours[0])
        else:
            name, arguments = "StructuredOutput", {"said": "", "calls": [{"tool": tool, "arguments": arguments}]}
        call = {"index": 0, "id": f"c{step}", "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)}}
        return {"role": "assistant", "tool_calls": [call]}, "tool_calls"


@contextlib.contextmanager
def model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.asked, server.step = [], 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


def provider(server):
    """OpenCode's configuration, with our model as the only one."""
    options = {"baseURL": f"http://127.0.0.1:{server.server_address[1]}/v1", "apiKey": "none"}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": {"m": {"name": "m"}}}
    return {"provider": {"fake": fake}, "model": "fake/m", "small_model": "fake/m", "autoupdate": False,
            "share": "disabled"}


def environment(home, server):
    """What OpenCode is told: our model, and to fetch nothing."""
    file = pathlib.Path(home, "opencode.json")
    file.write_text(json.dumps(provider(server)))
    quiet = ["AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD"]
    return {"OPENCODE_CONFIG": str(file), **{f"OPENCODE_DISABLE_{name}": "1" for name in quiet}}


def run_job(binary, home, settings, planner, more=None):
    variables = {f"OSO_{name.upper().replace('.', '__')}": value for name, value in settings.items()}
    command = [binary, "--mock", "--scenario", str(PROJECT / "scenarios/login.yaml"), "run", "log in as alice",
               "--planner", planner, "--model", "fake/m", "--json", "--timeout", str(SECONDS)]
    own = {"PATH": os.environ["PATH"], "HOME": home, "OSO_JOBS__DIR": f"{home}/jobs",
           "OSO_PLANNER__TIMEOUT_S": "60", **variables, **(more or {})}
    ended = subprocess.run(command, env=own, cwd=home, capture_output=True, text=True, timeout=SECONDS + 30,
                           check=False)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    return lines, ended.stderr


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_ready(url):
    """A request that comes while it starts may never be answered, so a session is asked for until there is one."""
    login = base64.b64encode(f"opencode:{PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {login}", "Content-Type": "application/json"}
    for _ in range(20):
        request = urllib.request.Request(f"{url}/session", b"{}", headers)
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=5):
            return
        time.sleep(1)
    raise RuntimeError("opencode's server does not answer")


@contextlib.contextmanager
def opencode_server(program, home, server):
    port = free_port()
    own = {"PATH": os.environ["PATH"], "HOME": home, "OPENCODE_SERVER_PASSWORD": PASSWORD,
           **environment(home, server)}
    process = subprocess.Popen([program, "serve", "--port", str(port)], env=own, cwd=home, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def check_end(count, name, lines, said, server):
    end = next((line for line in lines if line.get("event") == "ended"), {})
    count.check(f"{name}: it succeeds", end.get("status") == "succeeded" and end.get("result") == "ok",
                json.dumps(end) + said[-500:])
    called = [line["tool"] for line in lines if line.get("event") == "called" and line["ok"]]
    count.check(f"{name}: the calls are made", called[:2] == ["look", "act"], str(called))
    seen = json.dumps([asked for _, asked in server.asked])
    count.check(f"{name}: the model was told what is on the screen", "Acme Login" in seen)
    return end


def main(binary, program):
    count = Count("opencode")
    with tempfile.TemporaryDirectory(prefix="oso-test-") as home, model() as server:
        with opencode_server(program, home, server) as url:
            settings = {"planner.opencode_url": url, "planner.opencode_password": PASSWORD}
            lines, said = run_job(binary, home, settings, "opencode")
        end = check_end(count, "server", lines, said, server)
        usage = end.get("usage", {})
        counted = (usage.get("input"), usage.get("cached_input"), usage.get("output"))
        count.check("server: tokens are counted", counted == (300, 120, 30), str(usage))
        tools = {tuple(tools) for tools, _ in server.asked if tools}
        count.check("server: its own tools are off", tools == {("StructuredOutput",)}, str(tools))
    with tempfile.TemporaryDirectory(prefix="oso-test-") as home, model() as server:
        own = environment(home, server)
        settings = {"planner.cli": json.dumps([program]), "planner.cli_variables": json.dumps(list(own))}
        lines, said = run_job(binary, home, settings, "cli", own)
        check_end(count, "command line", lines, said, server)
        others = {name for tools, _ in server.asked for name in tools if not name.startswith("desktop")}
        count.check("command line: it has no other tool", not others, str(others))
    return count.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
