#!/usr/bin/env python3
"""The scripted policies of tests/browser/miniwob through Playwright MCP, for comparison.

    benches/miniwob_playwright.py PEERS HTML-FOLDER [--seeds 10] [--tasks a,b]

PEERS is a folder of benches/browser-peers.sh, HTML-FOLDER the folder `miniwob/html` of the package miniwob. The policies
are the same, and so is the judge. Playwright's snapshot tells no places, so that the task's sentence is read by a script
of the page, and what a policy finds or drags by its place is not found.
"""
import argparse, itertools, json, os, pathlib, re, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/browser/miniwob"))
from judge import Judge
from page import Failed, Page, Server
from policies import POLICIES
from run import episode

ROLES = {"button": "Button", "link": "Hyperlink", "textbox": "Edit", "searchbox": "Edit", "checkbox": "CheckBox",
         "radio": "RadioButton", "combobox": "ComboBox", "listbox": "List", "option": "ListItem", "tab": "TabItem",
         "menuitem": "MenuItem", "spinbutton": "Spinner", "slider": "Slider", "heading": "Heading", "img": "Image",
         "switch": "ToggleButton", "treeitem": "TreeItem", "row": "Row", "cell": "DataItem", "columnheader": "HeaderItem"}
NODE = re.compile(r'^(?P<indent> *)- (?P<role>[a-z]+)(?: "(?P<name>(?:[^"\\]|\\.)*)")?(?P<marks>(?: \[[^\]]*\])*)(?:: ?(?P<value>.*))?$')


class Seen:
    """An element of a snapshot, as policies read one."""

    def __init__(self, found):
        marks = re.findall(r"\[([^\]]*)\]", found["marks"])
        self.ref = next((mark[4:] for mark in marks if mark.startswith("ref=")), None)
        role, value = found["role"], (found["value"] or "").strip('"')
        self.role = ROLES.get(role, "Button" if "cursor=pointer" in marks else "Text")
        self.name = found["name"] or ("" if role == "textbox" else value)
        self.value, self.about = value, ""
        self.flags = {mark for mark in marks if "=" not in mark}
        self.depth = len(found["indent"]) // 2
        self.placed, self.hidden = False, False
        self.x = self.y = self.w = self.h = 0
        self.middle = (0, 0)


class Playwright(Server):
    def __init__(self, peers, url):
        command = ["node", f"{peers}/npm/node_modules/@playwright/mcp/cli.js", "--headless", "--isolated", "--no-sandbox",
                   "--executable-path", "/usr/bin/chromium", "--caps", "vision"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "HOME": f"{peers}/home"}, cwd=f"{peers}/home")
        self.ids, self.calls = itertools.count(1), 0
        self.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "miniwob", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.call("browser_navigate", {"url": url})


class PeerPage(Page):
    def look(self):
        self.text = "\n".join(self.server.call("browser_snapshot", {}))
        self.elements = [Seen(found) for line in self.text.split("\n") if (found := NODE.match(line))]
        asked = "() => (document.querySelector('#query') || document.body).innerText"
        told = "\n".join(self.server.call("browser_evaluate", {"function": asked}))
        self.told = json.loads(re.search(r'^"(?:[^"\\]|\\.)*"$', told, re.M)[0])
        return self.elements

    @property
    def query(self):
        return " ".join(self.told.split())

    def act(self, *steps):
        for step in steps:
            self.step(**step)

    def step(self, do, ref=None, **more):
        target = {"element": ref, "target": ref}
        tool, arguments = {
            "click_element": lambda: ("browser_click", target),
            "set_value": lambda: ("browser_type", {**target, "text": str(more.get("value", ""))}),
            "select_option": lambda: ("browser_select_option", {**target, "values": [more.get("option_name")]}),
            "hover_element": lambda: ("browser_hover", target),
            "press_key": lambda: ("browser_press_key", {"key": key_name(more["keys"])}),
            "type_text": lambda: ("browser_press_key", {"key": more["text"]}),
            "click_at": lambda: ("browser_mouse_click_xy", {"element": "it", "x": more["x"], "y": more["y"]}),
        }.get(do, lambda: self.missing(do))()
        self.server.call(tool, arguments)

    @staticmethod
    def missing(do):
        raise Failed(f"no {do} without places")


def key_name(keys):
    named = {"enter": "Enter", "tab": "Tab", "escape": "Escape", "down": "ArrowDown", "up": "ArrowUp", "left": "ArrowLeft",
             "right": "ArrowRight", "backspace": "Backspace", "delete": "Delete", "ctrl": "Control", "shift": "Shift"}
    return "+".join(named.get(part, part) for part in keys.split("+"))


def main():
    words = argparse.ArgumentParser()
    words.add_argument("peers", type=os.path.abspath)
    words.add_argument("folder")
    words.add_argument("--seeds", type=int, default=10)
    words.add_argument("--tasks", default="")
    given = words.parse_args()
    tasks = [name for name in given.tasks.split(",") if name] or sorted(POLICIES)
    judge = Judge(given.folder)
    server = Playwright(given.peers, judge.first)
    page = PeerPage(server)
    began, solved = time.monotonic(), 0
    for name in tasks:
        problems = [episode(judge, page, name, seed) for seed in range(1, given.seeds + 1)]
        won = problems.count(None)
        solved += won
        print(f"{name}: {won} of {given.seeds}", *[problem[:200].replace("\n", " ") for problem in problems if problem][:1], flush=True)
    server.close()
    count = len(tasks) * given.seeds
    print(f"{len(tasks)} tasks, {count} episodes, {server.calls} calls, {time.monotonic() - began:.0f} s")
    print(f"{solved} of {count} solved: {solved * 100 / count:.1f} %")


if __name__ == "__main__":
    main()
