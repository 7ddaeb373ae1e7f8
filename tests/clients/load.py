"""Many clients at once, on one server process: HTTP, /mcp and stdio side by side, while fifty calls wait.

    load.py SERVER

Every request has to be answered once, to whom it belongs; waits must hold up nobody; memory must not grow with the
number of calls. Times are compared with each other only: what a machine can do is for benchmarks.
"""

import collections
import http.client
import json
import os
import sys
import threading
import time

from running import Count, running

SECONDS = float(os.environ.get("LOAD_SECONDS", "5"))
READERS = 4
WAITS = 50
PIPELINED = 16
WAIT = {"any_of": [{"type": "window_appears", "title_regex": "^Stock"}], "timeout_ms": 60000}
SCENARIO_THAT_ENDS_THE_WAITS = "scenarios/dense.yaml"
MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "load", "version": "1"}}


class Tally:
    """What came back, from all threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answers = collections.Counter()
        self.steps = collections.Counter()
        self.faults = []
        # From here on the windows that readers have just been told of go away.
        self.world_changes = False

    def note(self, kind, reply, problem=None):
        with self.lock:
            self.answers[kind] += 1
            self.steps[reply.get("step_id")] += 1
            if problem:
                self.faults.append(f"{kind}: {problem}: {json.dumps(reply)[:200]}")

    def total(self, *kinds):
        with self.lock:
            return sum(self.answers[kind] for kind in kinds)


def connection(server):
    return http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=120)


def get(client, path):
    client.request("GET", path)
    answer = client.getresponse()
    return answer.status, json.loads(answer.read())


def post(client, path, body, headers=MCP_HEADERS):
    client.request("POST", path, json.dumps(body), headers)
    answer = client.getresponse()
    return answer.status, json.loads(answer.read())


def call(number, tool, arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def read_over_http(server, tally, stop, number):
    client = connection(server)
    paths = ["/api/windows", "/api/structure?window_index=0", "/api/find_element?selector=//Button"]
    while not stop.is_set():
        path = paths[number % len(paths)]
        number += 1
        status, reply = get(client, path)
        fine = status == 200 and reply.get("ok") or tally.world_changes and window_went(reply)
        tally.note("http", reply, None if fine else f"{path} {status}")


def window_went(reply):
    """A window that was chosen by its place in the list can be gone before it is read; saying so is right."""
    return reply.get("error", {}).get("code") == "WindowGone"


def read_over_mcp(server, tally, stop, number):
    client = connection(server)
    while not stop.is_set():
        number += 1
        status, message = post(client, "/mcp", call(number, "list_windows", {}))
        reply = message.get("result", {}).get("structuredContent", {})
        tally.note("mcp", reply, None if status == 200 and message.get("id") == number else f"{number} {status}")


class Pipes:
    """The stdio client: several requests on their way at a time, answers counted by id."""

    def __init__(self, server, tally):
        self.process = server.process
        self.tally = tally
        self.sent = 0
        self.answered = collections.Counter()
        self.replies = {}
        self.room = threading.Semaphore(PIPELINED)
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", CLIENT)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _write(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            number = message.get("id")
            self.answered[number] += 1
            if number in self.replies:
                self.replies[number].put(message)
                continue
            self.room.release()
            reply = message.get("result", {}).get("structuredContent", {})
            self.tally.note("stdio", reply, None if reply.get("ok") else "no result")

    def ask(self, method, params):
        """One request whose answer is waited for."""
        self.sent += 1
        answer = Box()
        self.replies[self.sent] = answer
        self._write({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params})
        return answer.get()

    def pipeline(self, stop):
        while not stop.is_set():
            self.room.acquire()
            self.sent += 1
            self._write(call(self.sent, "list_windows", {}))

    def wait_for_all(self):
        for _ in range(PIPELINED):
            self.room.acquire()


class Box:
    def __init__(self):
        self.full = threading.Event()
        self.value = None

    def put(self, value):
        self.value = value
        self.full.set()

    def get(self):
        if not self.full.wait(60):
            raise TimeoutError("no answer over the pipes")
        return self.value


def wait_over(server, tally, number):
    """Half of the waits go over REST, half over /mcp."""
    client = connection(server)
    if number % 2:
        status, reply = post(client, "/api/wait_for", WAIT)
    else:
        status, message = post(client, "/mcp", call(number, "wait_for", WAIT))
        reply = message.get("result", {}).get("structuredContent", {})
    tally.note("wait", reply, None if status == 200 and reply.get("matched_index") == 0 else f"status {status}")


def spawn(target, *arguments):
    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def traffic(server, tally, pipes):
    """Readers of every kind, until the event is set."""
    stop = threading.Event()
    threads = [spawn(read_over_http, server, tally, stop, number) for number in range(READERS)]
    threads.append(spawn(read_over_mcp, server, tally, stop, 1_000_000))
    threads.append(spawn(pipes.pipeline, stop))
    return stop, threads


def during(seconds, tally):
    """How many reads of each kind are answered meanwhile."""
    before = {kind: tally.total(kind) for kind in ("http", "mcp", "stdio")}
    time.sleep(seconds)
    return {kind: tally.total(kind) - count for kind, count in before.items()}


def until(holds, seconds=30):
    """Whether it comes about; the limit is for a server that hangs."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


class Watcher:
    """Hears over /api/events how many waits have begun, until all have."""

    def __init__(self, server):
        self.begun = 0
        self.client = connection(server)
        self.client.request("GET", "/api/events")
        self.stream = self.client.getresponse()
        self.stream.readline()
        spawn(self._hear)

    def _hear(self):
        event = b""
        while self.begun < WAITS and (line := self.stream.readline()):
            event = line if line.startswith(b"event:") else event
            if event.startswith(b"event: call_started") and b'"tool":"wait_for"' in line:
                self.begun += 1
        self.client.close()


def begin_waits(server, tally, count):
    watcher = Watcher(server)
    waits = [spawn(wait_over, server, tally, number) for number in range(WAITS)]
    count.check("all waits begin", until(lambda: watcher.begun == WAITS), watcher.begun)
    return waits


def end_waits(pipes, tally, count):
    """Makes happen what all of them wait for."""
    tally.world_changes = True
    loaded = pipes.ask("tools/call", {"name": "load_scenario", "arguments": {"path": SCENARIO_THAT_ENDS_THE_WAITS}})
    count.check("the scenario is loaded", not loaded["result"].get("isError"), loaded)
    count.check("every wait is answered", until(lambda: tally.total("wait") == WAITS), tally.total("wait"))


def run(server, count):
    tally = Tally()
    pipes = Pipes(server, tally)

    stop, threads = traffic(server, tally, pipes)
    during(SECONDS / 2, tally)
    without = during(SECONDS, tally)
    stop.set()
    [thread.join(30) for thread in threads]

    waits = begin_waits(server, tally, count)
    stop, readers = traffic(server, tally, pipes)
    during(SECONDS / 2, tally)
    memory = [server.memory()]
    beside = []
    for _ in range(2):
        beside.append(during(SECONDS, tally))
        memory.append(server.memory())
    count.check("no wait ended by itself", tally.total("wait") == 0 and all(wait.is_alive() for wait in waits))
    end_waits(pipes, tally, count)
    stop.set()
    threads += readers + waits
    [thread.join(30) for thread in threads]
    pipes.wait_for_all()

    count.check("every client has ended", not any(thread.is_alive() for thread in threads))
    reads_go_on(without, beside, count)
    nothing_lost(tally, pipes, count)
    memory_is_flat(memory, beside, count)


def reads_go_on(without, beside, count):
    print(f"reads without waits: {without}; beside {WAITS} waits: {beside}")
    for kind, reads in without.items():
        least = min(stretch[kind] for stretch in beside)
        # Fifty sleeping calls cost nothing; a busy machine may.
        count.check(f"{kind}: reads go on beside the waits", least * 5 >= reads > 0, f"{reads}, then {least}")


def nothing_lost(tally, pipes, count):
    count.check("no answer is wrong", not tally.faults, "; ".join(tally.faults[:5]))
    twice = [step for step, times in tally.steps.items() if times > 1]
    count.check("no call is answered twice", not twice, twice[:5])
    once = set(pipes.answered) == set(range(1, pipes.sent + 1)) and set(pipes.answered.values()) == {1}
    count.check("every line is answered once", once, f"{pipes.sent} sent, {len(pipes.answered)} answered")


def memory_is_flat(memory, beside, count):
    if None in memory:
        return print("memory is not measured: this system does not tell")
    print(f"resident memory, MB: {[round(value / 2**20, 1) for value in memory]}")
    # What is kept on purpose (the latest calls, cached trees) is there after the first stretch of reads.
    grown, reads = memory[2] - memory[1], sum(beside[1].values())
    count.check("memory is flat", grown < max(4 * 2**20, memory[1] // 10), f"{grown} bytes for {reads} reads")


def main():
    count = Count("load")
    with running(sys.argv[1], mode="both") as server:
        run(server, count)
        count.check("the server is still up", server.process.poll() is None)
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
