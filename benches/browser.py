#!/usr/bin/env python3
"""What a page costs to read and to work, beside the browser servers that the registries have. One Chromium, one run.

    cargo build --profile quick
    benches/browser.py target/quick/os-screen-observer [--rounds 15] [--peers FOLDER] [--docs FOLDER]

Pages: Rust's own documentation (`rustup component add rust-docs`), a small page and a form of eight fields, all from
loopback. `--peers FOLDER` also measures Playwright MCP, chrome-devtools-mcp, agent-browser and browser-use, installed
there by `benches/browser-peers.sh FOLDER`. Times are medians on the clock; memory is the server's own, without the
browser's. What a model writes is the name of each tool with its arguments, and for a command line the command as the
argument of a shell's tool.
"""
import argparse, functools, http.server, itertools, json, os, pathlib, re, select, shlex, statistics, subprocess, sys, tempfile
import threading, time

SMALL = "<!doctype html><title>Small</title><h1>Small</h1><p>A page with <a href='#'>one link</a>.</p><button>Press</button>"
FIELDS = ["First name", "Last name", "Street", "City", "Country", "Phone", "Company", "Remarks"]
FORM = ("<!doctype html><title>Form</title><form onsubmit=\"event.preventDefault();document.title='sent';"
        "fetch('/sent?'+new URLSearchParams(new FormData(this)),{method:'POST'});"
        "document.getElementById('note').textContent='Thank you'\">"
        + "".join(f"<p><label>{name} <input name='f{at}'></label></p>" for at, name in enumerate(FIELDS))
        + "<button>Send</button></form><p id=note role=status></p>")
clock = time.perf_counter
middle = statistics.median


class Site(http.server.SimpleHTTPRequestHandler):
    sent = []

    def log_message(self, *_):
        pass

    def do_GET(self):
        page = {"/small.html": SMALL, "/form.html": FORM}.get(self.path.split("?")[0])
        if page is None:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def do_POST(self):
        Site.sent.append(self.path)
        self.send_response(204)
        self.end_headers()


def serve(folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=folder))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Mcp:
    """A client on a pipe that times what it asks."""

    def __init__(self, command, variables=()):
        self.folder = tempfile.mkdtemp(prefix="bench-")
        self.began = clock()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder,
                                        stderr=open(self.folder + "/stderr", "wb"), env={**os.environ, **dict(variables)}, bufsize=0)
        self.ids, self.rest, self.written, self.read = itertools.count(1), b"", 0, 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.started = (clock() - self.began) * 1e3

    def send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())

    def ask(self, method, params, patience=120):
        number, until = next(self.ids), clock() + patience
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            while b"\n" not in self.rest:
                if not select.select([self.process.stdout], [], [], max(0, until - clock()))[0]:
                    raise TimeoutError(method)
                chunk = os.read(self.process.stdout.fileno(), 1 << 20)
                if not chunk:
                    raise EOFError(pathlib.Path(self.folder, "stderr").read_text(errors="replace")[-500:])
                self.rest += chunk
            line, self.rest = self.rest.split(b"\n", 1)
            if line.startswith(b"{") and (answer := json.loads(line)).get("id") == number and "method" not in answer:
                return answer

    def call(self, tool, **arguments):
        """Milliseconds and what a model would read."""
        start = clock()
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        spent = (clock() - start) * 1e3
        result = answer.get("result") or {}
        text = "\n".join(block.get("text", "") for block in result.get("content", []))
        if "error" in answer or result.get("isError"):
            raise RuntimeError(f"{tool}: {answer.get('error') or text[:400]}")
        self.written += len(tool) + len(json.dumps(arguments))
        self.read += len(text.encode())
        return spent, text

    def memory(self):
        """Proportional memory in MB of the server and what it started, browsers left out."""
        return sum(memory_of(pid) for pid in below(self.process.pid) if "chrom" not in program(pid))

    def close(self):
        pids = below(self.process.pid)
        try:
            self.process.stdin.close()
            self.process.wait(8)
        except Exception:
            self.process.kill()
            self.process.wait()
        for pid in pids[1:]:
            try:
                os.kill(pid, 15)
            except OSError:
                pass


def below(pid):
    """A process and everything that it started."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = int(open(f"/proc/{entry}/stat").read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
        children.setdefault(parent, []).append(int(entry))
    found, rest = [], [pid]
    while rest:
        found.append(rest.pop())
        rest += children.get(found[-1], [])
    return found


def program(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe").rsplit("/", 1)[1]
    except OSError:
        return ""


def memory_of(pid):
    try:
        return next(int(line.split()[1]) for line in open(f"/proc/{pid}/smaps_rollup") if line.startswith("Pss:")) / 1024
    except (OSError, StopIteration):
        return 0


class Ours:
    name = "os-screen-observer"

    def __init__(self, given, url, executable="chromium"):
        flags = ["--mode", "mcp", "--log", "error", "--profile", "agent", "--browser", url]
        # Every look reads the page anew, as a page that changes would be.
        self.mcp = Mcp([given.server, *flags], {"OSO_BROWSER__SANDBOX": "false", "OSO_BROWSER__EXECUTABLE": executable,
                                                "OSO_TREE__CACHE_TTL_S": "0"})

    def look(self):
        return self.mcp.call("look")

    def form(self):
        """The eight fields and the button, in one look and one act."""
        _, text = self.mcp.call("look")
        refs = [re.search(rf'(e\d+) Edit "{name}"', text)[1] for name in FIELDS]
        steps = [{"do": "set_value", "ref": ref, "value": f"Value {at}"} for at, ref in enumerate(refs)]
        send = re.search(r'(e\d+) Button "Send"', text)[1]
        self.mcp.call("act", steps=[*steps, {"do": "click_element", "ref": send, "expect": "text: Thank you"}])
        return 2


class Playwright:
    name = "Playwright MCP"

    def __init__(self, given, url, executable="chromium"):
        command = ["node", f"{given.peers}/npm/node_modules/@playwright/mcp/cli.js", "--headless", "--isolated", "--no-sandbox",
                   "--executable-path", f"/usr/bin/{executable}"]
        self.mcp = Mcp(command, {"HOME": given.peers + "/home"})
        self.mcp.call("browser_navigate", url=url)

    def look(self):
        return self.mcp.call("browser_snapshot")

    def form(self):
        _, text = self.mcp.call("browser_snapshot")
        refs = [re.search(rf'textbox "{name}"[^\n]*\[ref=(\w+)\]', text)[1] for name in FIELDS]
        fields = [{"name": name, "type": "textbox", "target": ref, "element": name, "value": f"Value {at}"}
                  for at, (name, ref) in enumerate(zip(FIELDS, refs))]
        self.mcp.call("browser_fill_form", fields=fields)
        send = re.search(r'button "Send"[^\n]*\[ref=(\w+)\]', text)[1]
        self.mcp.call("browser_click", element="Send", target=send)
        return 3


class DevTools:
    name = "chrome-devtools-mcp"

    def __init__(self, given, url, executable="chromium"):
        command = ["node", f"{given.peers}/npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js", "--headless",
                   "--isolated", "--executablePath", f"/usr/bin/{executable}", "--chromeArg=--no-sandbox", "--no-usage-statistics"]
        self.mcp = Mcp(command, {"HOME": given.peers + "/home", "CI": "1", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS": "1"})
        _, pages = self.mcp.call("new_page", url=url)
        self.page = int(re.search(rf"(\d+):[^\n]*{re.escape(url)}", pages)[1])

    def look(self):
        return self.mcp.call("take_snapshot", pageId=self.page)

    def form(self):
        _, text = self.mcp.call("take_snapshot", pageId=self.page)
        uids = [re.search(rf'uid=(\w+) textbox "{name}"', text)[1] for name in FIELDS]
        self.mcp.call("fill_form", pageId=self.page, elements=[{"uid": uid, "value": f"Value {at}"} for at, uid in enumerate(uids)])
        self.mcp.call("click", pageId=self.page, uid=re.search(r'uid=(\w+) button "Send"', text)[1])
        return 3


class AgentBrowser:
    """A command line with a server of its own behind it; what it prints is what a model reads."""
    name = "agent-browser"

    def __init__(self, given, url, executable="chromium"):
        self.program = f"{given.peers}/ab/node_modules/agent-browser/bin/agent-browser-linux-x64"
        self.variables = {**os.environ, "HOME": given.peers + "/home", "AGENT_BROWSER_SESSION": "bench",
                          "AGENT_BROWSER_EXECUTABLE_PATH": f"/usr/bin/{executable}", "AGENT_BROWSER_ARGS": "--no-sandbox"}
        self.mcp = self
        self.written = self.read = 0
        self.run("open", url)

    def run(self, *words):
        start = clock()
        done = subprocess.run([self.program, *words], capture_output=True, text=True, env=self.variables, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stdout[-300:]}{done.stderr[-300:]}")
        self.written += len("bash") + len(json.dumps({"command": shlex.join(["agent-browser", *words])}))
        self.read += len(done.stdout.encode())
        return (clock() - start) * 1e3, done.stdout

    def look(self):
        return self.run("snapshot")

    def form(self):
        _, text = self.run("snapshot", "-i")
        for at, name in enumerate(FIELDS):
            self.run("fill", "@" + re.search(rf'textbox "{name}"[^\n]*ref=(\w+)', text)[1], f"Value {at}")
        self.run("click", "@" + re.search(r'button "Send"[^\n]*ref=(\w+)', text)[1])
        return 10

    def memory(self):
        pids = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if program(pid).startswith("agent-browser")]
        return sum(map(memory_of, pids))

    def close(self):
        self.run("close")


BROWSER_USE = """
import asyncio, json, os, sys, time
os.environ.update(ANONYMIZED_TELEMETRY="false", BROWSER_USE_CLOUD_SYNC="false", BROWSER_USE_LOGGING_LEVEL="result")
from browser_use.browser.session import BrowserSession
from browser_use.browser.profile import BrowserProfile

async def main():
    session = BrowserSession(browser_profile=BrowserProfile(executable_path=sys.argv[2], headless=True, chromium_sandbox=False,
                                                            enable_default_extensions=False))
    await session.start()
    await session.navigate_to(sys.argv[1])
    print("{}", flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        start = time.perf_counter()
        state = await session.get_browser_state_summary(include_screenshot=False)
        text = state.dom_state.llm_representation()
        print(json.dumps([(time.perf_counter() - start) * 1e3, text]), flush=True)
    os._exit(0)
asyncio.run(main())
"""


class BrowserUse:
    """Its own view of a page, without a model; a form takes its agent, and is not measured."""
    name = "browser-use"

    def __init__(self, given, url, executable="chromium"):
        self.mcp = self
        self.began, self.written, self.read = clock(), 0, 0
        self.process = subprocess.Popen([f"{given.peers}/bu/bin/python", "-c", BROWSER_USE, url, f"/usr/bin/{executable}"], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": given.peers + "/home"})
        self.line()

    def line(self):
        if not select.select([self.process.stdout], [], [], 90)[0]:
            raise TimeoutError("browser-use says nothing")
        line = self.process.stdout.readline()
        if not line:
            raise EOFError("browser-use has ended")
        return line

    def look(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return tuple(json.loads(self.line()))

    memory = Mcp.memory
    close = Mcp.close


def measure_looks(kind, given, url, rounds):
    """Milliseconds of a look, bytes of its reply, and the server's memory after it."""
    server = kind(given, url)
    try:
        server.look()
        seen = [server.look() for _ in range(rounds)]
        return middle([spent for spent, _ in seen]), len(seen[-1][1].encode()), server.mcp.memory()
    finally:
        server.mcp.close()


def measure_start(kind, given, url, executable, rounds):
    """From nothing to what is on the first page."""
    spent = []
    for _ in range(rounds):
        start = clock()
        server = kind(given, url, executable)
        server.look()
        spent.append((clock() - start) * 1e3)
        server.mcp.close()
    return middle(spent)


def measure_form(kind, given, url, rounds):
    """Calls, milliseconds and bytes written and read, until the page has sent it."""
    spent, count = [], 0
    for _ in range(rounds):
        server = kind(given, url)
        try:
            Site.sent.clear()
            server.mcp.written = server.mcp.read = 0
            start = clock()
            count = server.form()
            spent.append((clock() - start) * 1e3)
            end = clock() + 5
            while not Site.sent and clock() < end:
                time.sleep(0.01)
            wanted = "&".join(f"f{at}=Value+{at}" for at in range(len(FIELDS)))
            assert Site.sent and wanted in Site.sent[0], f"{kind.name} sent {Site.sent}"
            size = server.mcp.written, server.mcp.read
        finally:
            server.mcp.close()
    return count, middle(spent), size


def row(*cells):
    print("| " + " | ".join(f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |", flush=True)


def attempt(what, *arguments):
    try:
        return what(*arguments)
    except Exception as problem:
        print(f"{arguments[0].name}: {type(problem).__name__} {str(problem)[:300]}", file=sys.stderr)
        return None


def main():
    words = argparse.ArgumentParser()
    words.add_argument("server", type=os.path.abspath)
    words.add_argument("--rounds", type=int, default=15)
    words.add_argument("--peers", type=os.path.abspath)
    words.add_argument("--docs")
    given = words.parse_args()
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True).stdout.strip()
    base = serve(given.docs or f"{sysroot}/share/doc/rust/html")
    pages = {"small page": "small.html", "std, index": "std/index.html", "trait Iterator": "std/iter/trait.Iterator.html"}
    kinds = [Ours] + ([Playwright, DevTools, AgentBrowser, BrowserUse] if given.peers else [])
    print(f"load {os.getloadavg()[0]:.2f}, medians of {given.rounds} rounds")
    row("server", "page", "look ms", "bytes", "memory MB")
    row(*["---"] * 5)
    for name, path in pages.items():
        for kind in kinds:
            if (found := attempt(measure_looks, kind, given, f"{base}/{path}", given.rounds)) is not None:
                row(kind.name, name, *found)
    row("server", "browser", "start to first look ms")
    row(*["---"] * 3)
    for executable in ("chromium", "chromium-headless-shell"):
        for kind in kinds if executable == "chromium" else [Ours]:
            if pathlib.Path("/usr/bin", executable).exists():
                found = attempt(measure_start, kind, given, f"{base}/small.html", executable, max(3, given.rounds // 3))
                row(kind.name, executable, found if found is not None else "–")
    row("server", "calls", "form ms", "bytes written", "bytes read", "both")
    row(*["---"] * 6)
    for kind in kinds[:4]:
        if (found := attempt(measure_form, kind, given, f"{base}/form.html", max(3, given.rounds // 3))) is not None:
            row(kind.name, found[0], found[1], *found[2], sum(found[2]))


if __name__ == "__main__":
    main()
