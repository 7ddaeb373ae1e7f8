#!/usr/bin/env python3
"""What guarding costs: the look before a press, redaction by the worst patterns, and the memory of many readings at once.

    cargo build --profile quick
    benches/trust.py target/quick/os-screen-observer [look] [redaction] [memory]

The look is told by the server's own log (`looked again before a press`); it is made for each press, after the pointer has
rested. The window of GTK 3 has 300 elements (tests/desktop/programs/deeds_gtk.py) and stands on a private desktop. Memory
is that of the server and the processes that it started: resident, and with shared pages divided among those who share
them. Linux only: it reads /proc.
"""
import argparse, itertools, json, os, pathlib, re, statistics, subprocess, sys, tempfile, threading, time

PROJECT = pathlib.Path(__file__).resolve().parents[1]
RULES = {"OSO_CONFIRMATION_REQUIRED": '[{"name_regex": "(?i)delete"}]'}
ROUNDS = 40
READINGS = 20
# The patterns that src/pattern/tests.rs has for the worst, and the text on which each is at its worst.
WORST = [(r"a.*[^a]|a", "a"), (r"(a*)*(?=b)c", "a"), (r"(?:a|aa)+(?=x)$", "a"), (r"(\w+)\s+\1z", "a "), (r"(?=.*z)q", "a"),
         (r"(?<=a+)b", "a"), (r".*[^a]|(?=ab)b", "a"), (r"(.*)(.*)(.*)(.*)\4z", "a")]
clock = time.perf_counter


class Server:
    """A server on a pipe, in a folder of its own, with what it says on stderr."""

    def __init__(self, binary, *flags, **variables):
        self.home = tempfile.TemporaryDirectory(prefix="bench-")
        environment = {**os.environ, "HOME": self.home.name, "XDG_STATE_HOME": self.home.name, **variables}
        self.process = subprocess.Popen([binary, "--mode", "mcp", *flags], cwd=self.home.name, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.numbers = itertools.count(1)
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()
        self.answer(self.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                             "clientInfo": {"name": "bench", "version": "1"}}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.home.cleanup()

    def send(self, method, params):
        number = next(self.numbers)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        return number

    def answer(self, number=None):
        for line in self.process.stdout:
            message = json.loads(line)
            if "result" in message and number in (None, message["id"]):
                return message["result"]
        raise SystemExit("the server ended: " + "".join(self.lines))

    def call(self, tool, **arguments):
        result = self.answer(self.send("tools/call", {"name": tool, "arguments": arguments}))
        return json.loads(result["content"][0]["text"])

    def must(self, tool, **arguments):
        reply = self.call(tool, **arguments)
        if not reply.get("ok"):
            raise SystemExit(f"{tool} {arguments}: {reply}")
        return reply

    def looks(self):
        """How long each look before a press took, in milliseconds."""
        units = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}
        plain = (re.sub(r"\x1b\[[0-9;]*m", "", line) for line in self.lines if "looked again" in line)
        found = (re.search(r"took=([0-9.]+)(ns|µs|ms|s)", line) for line in plain)
        return [float(match.group(1)) * units[match.group(2)] for match in found if match]


def told(label, times, calls):
    if not times:
        return f"{label}: no look; the call {statistics.median(calls):.1f} ms"
    return (f"{label}: look {statistics.median(times):.2f} ms (best {min(times):.2f}, worst {max(times):.2f}, {len(times)} looks); "
            f"the call {statistics.median(calls):.1f} ms")


def click_often(server, x, y):
    """The times of the calls, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        began = clock()
        server.must("click_at", x=x, y=y)
        times.append((clock() - began) * 1e3)
    return times


def measure_looks(binary):
    for label, flags in (("mock, 17 elements", ()), ("mock, 507 elements", ("--scenario", str(PROJECT / "scenarios/long-list.yaml"))),
                         ("mock, 1,999 elements", ("--scenario", str(PROJECT / "scenarios/dense.yaml")))):
        for rules, how in ((RULES, "rules"), ({}, "no rules")):
            with Server(binary, "--mock", "--log", "debug", *flags, **rules) as server:
                calls = click_often(server, 300, 300)
                print(told(f"{label}, {how}", server.looks(), calls), flush=True)
    for rules, how in ((RULES, "rules"), ({}, "no rules")):
        measure_gtk(binary, rules, how)


def measure_gtk(binary, rules, how):
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        program = ["/usr/bin/python3", str(PROJECT / "tests/desktop/programs/deeds_gtk.py"), "3.0", log.name]
        with Server(binary, "--log", "debug", "--sandbox", "--", *program, OSO_SANDBOX__ISOLATE="off", **rules) as server:
            uid, elements = gtk_window(server)
            row = next(it for it in elements if it["name"] == "Row 2")["bounds"]
            calls = click_often(server, row["x"] + 5, row["y"] + row["height"] // 2)
            print(told(f"GTK 3, {len(elements)} elements, {how}", server.looks(), calls), flush=True)


def gtk_window(server):
    for _ in range(100):
        for window in server.must("list_windows")["windows"]:
            if "Deeds" in window["title"]:
                tree = server.must("get_window_structure", window_uid=window["window_uid"], depth=64)["tree"]
                elements = list(flat(tree))
                if len(elements) > 250:
                    server.must("bring_to_foreground", window_uid=window["window_uid"])
                    return window["window_uid"], elements
        time.sleep(0.2)
    raise SystemExit("no window of GTK 3 came up")


def flat(node):
    yield node
    for child in node["children"]:
        yield from flat(child)


def measure_redaction(binary):
    """A window with a text of almost a megabyte, read whole: a scenario has a megabyte."""
    length = (1 << 20) - 4096
    for pattern, unit in [("nothing like it", "a"), *WORST]:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            file = pathlib.Path(folder, "long.yaml")
            element = {"role": "Edit", "name": "Text", "value": unit * (length // len(unit))}
            tree = {"role": "Window", "name": "Long", "children": [element]}
            file.write_text(json.dumps({"states": {"only": {"windows": [{"uid": "w", "title": "Long", "tree": tree}]}}}))
            rules = {"OSO_REDACTION__OCR_TEXT_PATTERNS": json.dumps([pattern])}
            with Server(binary, "--mock", "--scenario", str(file), **rules) as server:
                began = clock()
                reply = server.must("get_window_structure")
                took = (clock() - began) * 1e3
                value = reply["tree"]["children"][0]["value"]
                left = "replaced whole" if value == "[REDACTED]" else f"{len(value)} characters shown"
                print(f"{pattern:28} {took:8.0f} ms, {left}", flush=True)


def memory_of(root):
    """Resident and proportional bytes of a process and what it started."""
    family, open_pids = [], [root]
    parents = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents.setdefault(int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]), []).append(int(entry.name))
        except (OSError, IndexError):
            continue
    while open_pids:
        pid = open_pids.pop()
        family.append(pid)
        open_pids += parents.get(pid, [])
    resident = proportional = 0
    for pid in family:
        try:
            text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        resident += int(re.search(r"Rss:\s+(\d+)", text).group(1))
        proportional += int(re.search(r"Pss:\s+(\d+)", text).group(1))
    return resident * 1024, proportional * 1024, len(family)


def measure_memory(binary):
    """Readings of a window of 1920 × 1040, each of another part of it, so that none is answered from the cache."""
    with Server(binary, "--mock", "--scenario", str(PROJECT / "scenarios/dense.yaml"), OSO_OCR__TIMEOUT_S="600") as server:
        server.must("get_ocr", window_index=0, bbox={"x": 0, "y": 0, "width": 300, "height": 100})
        idle = memory_of(server.process.pid)
        most, over = [0, 0, 0], threading.Event()

        def watch():
            while not over.is_set():
                most[:] = [max(pair) for pair in zip(most, memory_of(server.process.pid))]
                time.sleep(0.02)

        watcher = threading.Thread(target=watch)
        watcher.start()
        began = clock()
        for number in range(READINGS):
            box = {"x": 0, "y": 0, "width": 1920 - number, "height": 1040}
            server.send("tools/call", {"name": "get_ocr", "arguments": {"window_index": 0, "bbox": box}})
        replies = [json.loads(server.answer()["content"][0]["text"]) for _ in range(READINGS)]
        took = clock() - began
        over.set()
        watcher.join()
        finished = sum(bool(reply.get("ok")) for reply in replies)
        words = sum(len(reply.get("words", [])) for reply in replies) // max(finished, 1)
        megabytes = [figure / 1e6 for figure in (*idle[:2], *most[:2])]
        print(f"{finished} of {READINGS} readings finished in {took:.1f} s, {words} words each; at rest {megabytes[0]:.0f} MB resident "
              f"({megabytes[1]:.0f} shared out), at most {megabytes[2]:.0f} MB ({megabytes[3]:.0f}), {most[2]} processes", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parts = {"look": measure_looks, "redaction": measure_redaction, "memory": measure_memory}
    parser.add_argument("parts", nargs="*", metavar="|".join(parts))
    arguments = parser.parse_args()
    for name in arguments.parts or parts:
        parts[name](os.path.abspath(arguments.server))


if __name__ == "__main__":
    sys.exit(main())
