"""Clients of the original, request by request: what its own client sends for each tool and what it reads of the reply.

    original.py SERVER

The requests were written from its contract. They run on the mock desktop, on the login scenario, on a private X11
desktop, and on an X server without a session bus, where there are windows and pictures and no elements. A request that is
answered with an HTTP error fails, as that client would; what a row may be answered with instead stands in it. On each
desktop but that of the scenario all of its tools are called by their names too, over REST and over MCP on stdio.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from running import Count, Server, end, running

SECONDS = 60
WINDOW_SECONDS = 60


class Refused(Exception):
    """An answer that is an HTTP error, with its code of ours."""


def ask(address, method, path, query=None, body=None):
    """The parsed answer, as a client has it that knows no status but success."""
    url = address + path
    given = {name: value for name, value in (query or {}).items() if value is not None}
    if given:
        url += "?" + urllib.parse.urlencode(given)
    headers = {} if body is None else {"Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as problem:
        text = problem.read().decode(errors="replace")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            raise Refused(json.loads(text)["error"]["code"]) from None
        raise Refused(f"{problem.code} {text[:200]}") from None


class Client:
    """One server and one window, asked row by row."""

    def __init__(self, count, address, place, window, selector):
        self.count = count
        self.address = address
        self.place = place
        self.window = window
        self.selector = selector

    def row(self, what, method, path, keys="", query=None, body=None, may_be=()):
        """Whether the request is served and its answer has these keys, or is refused as it may be."""
        try:
            answer = ask(self.address, method, path, query, body)
        except Refused as problem:
            self.count.check(f"{self.place}: {what}", str(problem) in may_be, f"was refused: {problem}")
            return {}
        missing = [key for key in keys.split() if key not in answer]
        held = not missing and answer.get("ok", True) is not False
        self.count.check(f"{self.place}: {what}", held, f"lacks {missing}: {str(answer)[:300]}")
        return answer

    def get(self, what, path, keys="", may_be=(), **query):
        return self.row(what, "GET", path, keys, query=query, may_be=may_be)

    def post(self, what, path, keys="", body=None, may_be=()):
        return self.row(what, "POST", path, keys, body={} if body is None else body, may_be=may_be)

    def reads(self):
        """What it looks at, by each of the three names of a window."""
        for named in ({"window_uid": self.window["window_uid"]}, {"window_index": 0},
                      {"window_title": self.window["title"][:6]}):
            name = next(iter(named))
            self.get(f"sketch by {name}", "/api/sketch", "window sketch grid_width grid_height", **named)
            self.get(f"description by {name}", "/api/description", "window description", **named)
            self.get(f"structure by {name}", "/api/structure", "window tree element_count", **named)
        named = {"window_uid": self.window["window_uid"]}
        self.get("a sketch of a size, with OCR", "/api/sketch", "sketch", grid_width=60, grid_height=20, ocr=1, **named)
        self.get("a screenshot", "/api/screenshot", "width height data", **named)
        self.get("a screenshot with a sketch", "/api/full_screenshot", "width height data", grid_width=40, grid_height=20, **named)
        self.get("a part of it", "/api/screenshot/cropped", "width height data", element_id="root", padding_px=4, **named)
        self.get("what shows of it", "/api/visible_areas", "visible_regions", **named)
        self.get("its text", "/api/ocr", "words", **named)
        seen = self.get("a look", "/api/observe", "tree_token tree_hash", **named)
        self.get("a look since then", "/api/observe", "tree_token", since=seen.get("tree_token"), format="json-patch", **named)
        for path, keys in (("/api/capabilities", "platform adapter supports"), ("/api/monitors", "monitors"),
                           ("/api/budget_status", "configured"), ("/api/redaction_status", "enabled active"),
                           ("/api/trace/status", "active_trace_id step_count"), ("/api/healthz", "uptime_s step_count adapter version")):
            self.get(path, path, keys)

    def keeps(self):
        """Snapshots, traces and replays."""
        first = self.post("a snapshot", "/api/snapshot", "snapshot_id ts summary").get("snapshot_id")
        second = self.post("another", "/api/snapshot", "snapshot_id").get("snapshot_id")
        self.get("the first again", f"/api/snapshot/{first}", "windows trees tree_hashes ts")
        self.post("what is between them", "/api/snapshot/diff", body={"a": first, "b": second})
        self.row("the first dropped", "DELETE", f"/api/snapshot/{first}")
        self.post("a trace", "/api/trace/start", "trace_id started_at", {"label": "original"})
        self.get("a call in it", "/api/windows", "windows count")
        path = self.post("its end", "/api/trace/stop", "trace_id path step_count").get("path")
        replay = self.post("a replay", "/api/replay/start", "replay_id total", {"path": path, "mode": "verify", "on_divergence": "warn"})
        named = {"replay_id": replay.get("replay_id")}
        self.post("a step of it", "/api/replay/step", "position total finished replay_id", named)
        self.post("how far it is", "/api/replay/status", "position total finished divergences", named)
        self.post("the end of it", "/api/replay/stop", "stopped", named)

    def waits(self):
        named = {"window_uid": self.window["window_uid"]}
        self.post("a wait for a window", "/api/wait_for", "matched_index matched_detail elapsed_ms polls", {"any_of": [{"type": "window_appears", "title_regex": "."}], "timeout_ms": 3000, "poll_ms": 100})
        self.post("a wait for quiet", "/api/wait_idle", "", {**named, "quiet_ms": 50, "timeout_ms": 3000, "poll_ms": 50}, may_be=("Timeout",))
        self.post("a claim", "/api/assert_state", "all_passed", {"predicate": [{"kind": "window_focused", **named}]})

    def finds(self):
        named = {"window_uid": self.window["window_uid"]}
        self.get("an element", "/api/find_element", "element_id selector bounds", selector=self.selector, **named)
        self.post("a proposal", "/api/propose_action", "confirm_token", {"action": "click_element", "args": {**named, "selector": self.selector}})

    def acts_on_elements(self, may_be=()):
        """Every tool for elements, as a dry run and by the index that the client adds."""
        for tool, more in (("click", {}), ("focus", {}), ("invoke", {}), ("set_value", {"value": "a", "clear_first": True}),
                           ("select", {"option_index": 0}), ("right_click", {}), ("double_click", {}), ("clear_text", {}),
                           ("key", {"keys": "end"})):
            body = {"selector": self.selector, "window_index": 0, "dry_run": True, **more}
            self.post(f"element/{tool}", f"/api/element/{tool}", body=body,
                      may_be=("PatternUnsupported", "BadRequest", *may_be) if tool in ("select", "set_value", "clear_text") else may_be)
        self.post("a hover over it", "/api/hover", body={"selector": self.selector, "window_index": 0, "hover_ms": 10}, may_be=may_be)

    def acts(self, x, y):
        for body in ({"action": "click_at", "x": x, "y": y}, {"action": "click_at", "x": x + 0.5, "y": y, "button": "left", "double": False},
                     {"action": "key", "value": "end"}, {"action": "scroll", "x": x, "y": y, "clicks": 500}, {"action": "scroll", "clicks": -3}):
            self.post(f"action {body}", "/api/action", "success action", body)
        self.post("a hover", "/api/hover", body={"x": x, "y": y, "hover_ms": 10})
        self.post("a drag", "/api/drag", body={"from": {"x": x, "y": y}, "to": {"x": x + 5, "y": y + 5}, "window_index": 0, "duration_s": 0.1})
        self.post("a key and a look", "/api/key_and_observe", "observation", {"keys": "end", "window_index": 0, "wait_after_ms": 10})
        self.post("any tool by its name", "/api/tool/list_windows", "windows", {})
        self.get("to the front", "/api/bring_to_foreground", "success window", window_uid=self.window["window_uid"])


class RestByName:
    """Any tool by its name, as the original's client calls what has no function of its own."""

    place = "REST by name"

    def __init__(self, address):
        self.address = address

    def call(self, tool, arguments):
        return ask(self.address, "POST", f"/api/tool/{tool}", body=arguments)


class StdioByName:
    """The same over MCP, in the words of a script that was written by hand for the original."""

    place = "stdio"

    def __init__(self, process):
        self.process = process
        self.number = 0
        self.request("initialize", {"protocolVersion": "2024-11-05"})

    def request(self, method, params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer["result"]
        raise RuntimeError(f"no answer to {method}")

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        answer = json.loads(result["content"][0]["text"])
        if answer.get("ok") is False:
            raise Refused(answer["error"]["code"])
        pictures = [block["data"] for block in result["content"] if block["type"] == "image"]
        return {**answer, "data": pictures[0]} if pictures else answer


class EveryTool:
    """All tools of the original, one after the other, with arguments that its documents show."""

    NAMES = 53  # 51 in its list, and right_click_at and double_click_at

    def __init__(self, client, way, may_be=()):
        self.client = client
        self.way = way
        self.may_be = may_be
        self.called = set()

    def tool(self, tool, keys="", may_be=(), /, **arguments):
        self.called.add(tool)
        what = f"{self.client.place}, {self.way.place}: {tool}"
        try:
            answer = self.way.call(tool, arguments)
        except Refused as problem:
            self.client.count.check(what, str(problem) in may_be, f"was refused: {problem}")
            return {}
        missing = [key for key in keys.split() if key not in answer]
        self.client.count.check(what, not missing, f"lacks {missing}: {str(answer)[:300]}")
        return answer

    def work(self, x, y):
        self.look()
        self.keep()
        self.wait_and_judge()
        self.act_on_elements()
        self.act(x, y)
        count = self.client.count
        count.check(f"{self.client.place}, {self.way.place}: every tool", len(self.called) == self.NAMES, str(len(self.called)))

    def look(self):
        named = {"window_uid": self.client.window["window_uid"]}
        self.tool("list_windows", "windows count is_mock")
        self.tool("get_capabilities", "platform adapter supports config")
        self.tool("get_monitors", "monitors")
        self.tool("get_window_structure", "window tree element_count tree_hash tree_token", **named, depth=3, max_nodes=50)
        self.tool("find_element", "element_id selector bounds", **named, selector=self.client.selector)
        seen = self.tool("observe_window", "tree_token tree_hash", **named)
        self.tool("observe_window", "tree_token", **named, since=seen.get("tree_token"), format="custom")
        self.tool("get_screen_description", "description effective_mode", **named, mode="accessibility", max_tokens=500)
        self.tool("get_screen_sketch", "sketch grid_width", window_index=0, grid_width=60, grid_height=20)
        self.tool("get_screenshot", "width height data", window_index=0)
        self.tool("get_full_screenshot", "width height data", window_index=0, grid_width=40, grid_height=20)
        self.tool("get_screenshot_cropped", "width height data", **named, element_id="root", padding_px=2, max_width=200)
        self.tool("get_ocr", "words", **named)
        self.tool("get_visible_areas", "visible_regions", window_index=0)
        self.tool("get_budget_status", "configured")
        self.tool("get_redaction_status", "enabled active")

    def keep(self):
        first = self.tool("snapshot", "snapshot_id ts summary").get("snapshot_id")
        second = self.tool("snapshot", "snapshot_id").get("snapshot_id")
        self.tool("snapshot_get", "windows trees tree_hashes", snapshot_id=first)
        self.tool("snapshot_diff", "windows_added windows_removed per_window_changes", a=first, b=second)
        self.tool("snapshot_drop", "dropped", snapshot_id=first)
        self.tool("trace_start", "trace_id started_at dir", label="by name")
        self.tool("list_windows", "windows")
        self.tool("trace_status", "active_trace_id step_count")
        path = self.tool("trace_stop", "path step_count").get("path")
        replay = self.tool("replay_start", "replay_id total", path=path, mode="verify", on_divergence="warn").get("replay_id")
        for tool, keys in (("replay_step", "position total finished"), ("replay_status", "divergences"), ("replay_stop", "stopped")):
            self.tool(tool, keys, replay_id=replay)

    def wait_and_judge(self):
        named = {"window_uid": self.client.window["window_uid"]}
        self.tool("wait_for", "matched_index", any_of=[{"type": "window_appears", "title_regex": "."}], timeout_ms=3000, poll_ms=100)
        self.tool("wait_idle", "", ("Timeout",), **named, quiet_ms=50, timeout_ms=3000)
        self.tool("assert_state", "all_passed results", predicates=[{"kind": "window_exists", **named}])
        self.tool("propose_action", "confirm_token expires_at would_target", action="click_element",
                  args={**named, "selector": self.client.selector})

    def act_on_elements(self):
        """For real; a menu that a right click opens is closed again."""
        element = {"window_uid": self.client.window["window_uid"], "selector": self.client.selector}
        values = ("PatternUnsupported", "BadRequest", *self.may_be)
        for tool, more in (("focus_element", {}), ("set_value", {"value": "a", "clear_first": True}), ("clear_text", {}),
                           ("select_option", {"option_index": 0}), ("key_into_element", {"keys": "end"}),
                           ("hover_element", {"hover_ms": 10}), ("invoke_element", {}), ("click_element", {"button": "left", "count": 1}),
                           ("click_element_and_observe", {"wait_after_ms": 10}), ("double_click_element", {}),
                           ("right_click_element", {})):
            may_be = values if tool in ("set_value", "clear_text", "select_option", "invoke_element") else self.may_be
            self.tool(tool, "", may_be, **element, **more)
        self.tool("press_key", "success action", keys="escape")

    def act(self, x, y):
        self.tool("bring_to_foreground", "success window", window_uid=self.client.window["window_uid"])
        self.tool("click_at", "success action", x=x, y=y, button="left", double=False)
        self.tool("double_click_at", "success", x=x, y=y)
        self.tool("right_click_at", "success", x=x, y=y)
        self.tool("press_key", "success action", keys="escape")
        self.tool("type_text", "success action", text="a")
        self.tool("type_and_observe", "observation", text="b", wait_after_ms=10)
        self.tool("press_key_and_observe", "observation", keys="end", wait_after_ms=10)
        self.tool("scroll", "success action", clicks=3, x=x, y=y)
        self.tool("hover_at", "action x y", x=x, y=y, hover_ms=10)
        self.tool("drag", "action path", **{"from": {"x": x, "y": y}, "to": {"x": x + 5, "y": y + 5}}, duration_s=0.1)
        # Last: it is another desktop from here on, where there is one of ours.
        self.tool("load_scenario", "scenario state states", ("PlatformUnsupported",), path="scenarios/login.yaml")


def first_window(address, title):
    """The window with this in its title, once there is one."""
    until = time.monotonic() + WINDOW_SECONDS
    while True:
        windows = ask(address, "GET", "/api/windows")["windows"]
        found = [window for window in windows if title in window["title"]]
        if found:
            return found[0]
        if time.monotonic() > until:
            raise RuntimeError(f"no window {title!r} in {windows}")
        time.sleep(0.2)


def middle(window):
    bounds = window["bounds"]
    return bounds["x"] + bounds["width"] // 2, bounds["y"] + bounds["height"] // 2


def by_name(client, server, x, y, may_be=()):
    """Over stdio and over REST: what the first does to the desktop, the second meets."""
    for way in (StdioByName(server.process), RestByName(server.address)):
        EveryTool(client, way, may_be).work(x, y)


def on_mock(count, binary):
    with running(binary, mode="both", scenario=None) as server:
        window = first_window(server.address, "Notepad")
        client = Client(count, server.address, "mock", window, 'Window/MenuBar/MenuItem[name="Edit"]')
        client.reads()
        client.keeps()
        client.waits()
        client.finds()
        client.acts_on_elements()
        client.acts(300, 300)
        EveryTool(client, StdioByName(server.process)).work(300, 300)
    with running(binary, scenario=None) as server:
        window = first_window(server.address, "Notepad")
        client = Client(count, server.address, "mock", window, 'Window/MenuBar/MenuItem[name="Edit"]')
        EveryTool(client, RestByName(server.address)).work(300, 300)


def on_login(count, binary):
    """Its own example: a scenario is loaded, worked and judged."""
    with running(binary, scenario=None) as server:
        client = Client(count, server.address, "login", {}, "")
        client.post("the scenario", "/api/scenario/load", "scenario state states", {"path": "scenarios/login.yaml"})
        edit = 'Window/Edit[name="{}"]'.format
        for field, text in (("Username", "alice"), ("Password", "hunter2")):
            client.post(f"a click into {field}", "/api/element/click", "changed target", {"window_uid": "mock:app", "selector": edit(field)})
            client.post(f"{field}", "/api/action", "success", {"action": "type", "value": text})
        client.post("the button", "/api/element/click_and_observe", "observation",
                    {"window_uid": "mock:app", "selector": 'Window/Button[name="Login"]', "wait_after_ms": 10})
        claim = {"predicate": [{"kind": "text_visible", "regex": "Hello, alice"}]}
        told = client.post("the welcome", "/api/assert_state", "all_passed results", claim)
        count.check("login: it passed", told.get("all_passed") is True, str(told))


@contextlib.contextmanager
def served(binary, command, environment=None):
    """A server of a real desktop, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="oso-test-") as home:
        file = pathlib.Path(home, "config.json")
        file.write_text(json.dumps({"tracing": {"dir": f"{home}/traces"}}))
        flags = ("--config", str(file))
        with running_real([binary, "--mode", "both", "--port", "0", *flags, *command], home, environment) as server:
            yield server


@contextlib.contextmanager
def running_real(command, home, environment):
    env = {**os.environ, "HOME": home, "XDG_STATE_HOME": home} if environment is None else {**environment, "HOME": home}
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server = Server(process)
    try:
        server.wait_until_up()
        yield server
    finally:
        end(process)


def on_x11(count, binary):
    """A private desktop with a dialog, its elements and all."""
    command = ("--sandbox", "--", "zenity", "--entry", "--title", "Original", "--text", "Say it")
    with served(binary, command) as server:
        window = first_window(server.address, "Original")
        client = Client(count, server.address, "X11", window, "//Edit")
        client.reads()
        client.keeps()
        client.waits()
        client.finds()
        client.acts_on_elements()
        client.post("a text and a look", "/api/type_and_observe", "observation", {"text": "hello", "window_index": 0, "wait_after_ms": 50})
        client.acts(*middle(window))
        by_name(client, server, *middle(window))


def await_window_manager(environment):
    """A window that is there before its manager is unmapped for a moment when the manager takes it."""
    until = time.monotonic() + WINDOW_SECONDS
    ask_for_it = ["xprop", "-root", "_NET_SUPPORTING_WM_CHECK"]
    while "window id" not in subprocess.run(ask_for_it, env=environment, capture_output=True, text=True).stdout:
        if time.monotonic() > until:
            raise RuntimeError("openbox does not manage the display")
        time.sleep(0.1)


@contextlib.contextmanager
def bare_display():
    """An X server and a window manager, and no word of any bus."""
    with contextlib.ExitStack() as ends:
        home = ends.enter_context(tempfile.TemporaryDirectory(prefix="oso-test-"))
        display = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ends.callback(lambda: (display.kill(), display.wait()))
        # Without -noreset the server forgets everything when its last client goes, and the first one may be a short one.
        number = display.stdout.readline().strip()
        environment = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "DISPLAY": f":{number}", "HOME": home, "XDG_RUNTIME_DIR": home}
        def start(*command):
            process = subprocess.Popen(command, env=environment, cwd=home, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            ends.callback(lambda: (process.kill(), process.wait()))

        start("openbox")
        await_window_manager(environment)
        start("xterm", "-u8", "-fa", "DejaVu Sans Mono", "-fs", "16", "-T", "Original", "-e", "sh")
        yield environment, pathlib.Path(home)


def without_a_bus(count, binary):
    with bare_display() as (environment, home), served(binary, (), environment) as server:
        window = first_window(server.address, "Original")
        client = Client(count, server.address, "no bus", window, "Window")
        client.reads()
        client.keeps()
        client.waits()
        client.finds()
        client.acts_on_elements(may_be=("PatternUnsupported", "PlatformUnsupported"))
        # Before the keys: a shell takes them for letters.
        client.post("a text and a look", "/api/type_and_observe", "observation",
                    {"text": "touch made\n", "window_index": 0, "wait_after_ms": 200})
        until = time.monotonic() + 10
        made = home / "made"
        while not made.exists() and time.monotonic() < until:
            time.sleep(0.1)
        count.check("no bus: the text arrived", made.exists())
        client.acts(*middle(window))
        by_name(client, server, *middle(window), may_be=("PatternUnsupported", "PlatformUnsupported"))


def main():
    binary = os.path.abspath(sys.argv[1])
    count = Count("the original's requests")
    on_mock(count, binary)
    on_login(count, binary)
    if sys.platform == "linux":
        for program in ("Xvfb", "openbox", "xterm", "zenity"):
            count.check(f"{program} is installed", shutil.which(program) is not None)
        on_x11(count, binary)
        without_a_bus(count, binary)
    return count.end()


if __name__ == "__main__":
    sys.exit(main())
