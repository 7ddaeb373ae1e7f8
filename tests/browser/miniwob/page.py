"""The server under test as a policy sees it: `look` gives lines, `act` runs steps. Nothing else is called."""
import itertools, json, os, re, subprocess

LINE = re.compile(
    r"^(?P<sign>[+~-] )?(?P<indent> *)(?:(?P<ref>e\d+) )?(?P<role>[A-Z][A-Za-z]*)?"
    r"(?: ?\"(?P<name>(?:[^\"\\]|\\.)*)\")?"
    r"(?: =(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<value>.*?)))?"
    r"(?: key:\S+)?(?: about:\"(?P<about>(?:[^\"\\]|\\.)*)\")?(?: in:\S+)?(?: \{(?P<flags>[^@]*)\})?"
    r"(?: @(?P<x>-?\d+),(?P<y>-?\d+) (?P<w>\d+)x(?P<h>\d+))?(?: \+\d+)?$")
ALL = ["texts", "bounds", "groups", "hidden", "cells", "repeats", "details"]


def plain(text):
    return re.sub(r"\\(.)", lambda found: "\n" if found[1] == "n" else found[1], text or "")


class Element:
    def __init__(self, found):
        self.ref, self.role = found["ref"], found["role"] or "Text"
        self.name, self.about = plain(found["name"]), plain(found["about"])
        self.value = plain(found["quoted"]) if found["quoted"] is not None else (found["value"] or "")
        self.flags = set(re.split(r"[ ,{}]+", found["flags"])) if found["flags"] else set()
        self.depth = len(found["indent"])
        self.placed = found["x"] is not None
        self.x, self.y, self.w, self.h = (int(found[key] or 0) for key in "xywh")

    @property
    def middle(self):
        return self.x + self.w // 2, self.y + self.h // 2

    @property
    def hidden(self):
        return "hidden" in self.flags

    def __repr__(self):
        return f"{self.ref} {self.role} {self.name!r} ={self.value!r} {sorted(self.flags)} @{self.x},{self.y} {self.w}x{self.h}"


class Failed(Exception):
    """A call that the server refused, or an element that is not there."""


class Server:
    """One MCP server on a pipe."""

    def __init__(self, binary, url):
        environment = {**os.environ, "OSO_BROWSER__SANDBOX": "false", "OSO_TREE__MAX_DEPTH": "64"}
        self.process = subprocess.Popen([binary, "--mode", "mcp", "--log", "error", "--browser", url],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.ids, self.calls = itertools.count(1), 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "miniwob", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        number = next(self.ids)
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the server has ended")
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer

    def call(self, tool, arguments):
        self.calls += 1
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            raise Failed(f"{tool} {arguments}: {answer['error']}")
        result = answer["result"]
        texts = [block["text"] for block in result["content"] if block["type"] == "text"]
        if result.get("isError"):
            raise Failed(f"{tool} {arguments}: {texts[0][:600]}")
        return texts

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)


class Page:
    def __init__(self, server):
        self.server = server
        self.elements, self.text = [], ""

    def look(self):
        texts = self.server.call("look", {"keep": ALL, "max_tokens": 60000})
        self.text = texts[-1]
        self.elements = []
        for line in self.text.split("\n"):
            if (found := LINE.match(line)) and line.strip() and not line.startswith("tab:"):
                self.elements.append(Element(found))
        return self.elements

    def act(self, *steps):
        return self.server.call("act", {"steps": list(steps)})

    # ── finding ──────────────────────────────────────────────────────────────────────────────────

    @property
    def query(self):
        """The task in words: what stands in the first 50 pixels."""
        told = [it.name for it in self.elements if it.placed and 0 <= it.y < 50 and it.x < 160 and it.role not in ("Window", "Document", "Group", "Canvas")]
        return " ".join(told)

    def all(self, role=None, name=None, showing=True, below=50):
        """Elements of the task, by role and name; a name is a text or a pattern. What stands beside it is the score."""
        beside = lambda it: it.role == "Text" and it.x >= 165 and it.y < 130
        same = lambda it: name is None or (it.name == name if isinstance(name, str) else name.search(it.name))
        roles = (role,) if isinstance(role, str) else role
        return [it for it in self.elements if (roles is None or it.role in roles) and same(it)
                and (not showing or not it.hidden) and (it.y >= below or not it.placed)
                and it.role not in ("Window", "Document") and not beside(it)]

    def one(self, role=None, name=None, **more):
        found = self.all(role, name, **more)
        if not found:
            raise Failed(f"no {role} {name} in\n{self.text[:3000]}")
        return found[0]

    # ── acting ───────────────────────────────────────────────────────────────────────────────────

    @staticmethod
    def click(element, count=1):
        """By its ref, or where it has none, by its place."""
        if element.ref:
            return {"do": "click_element", "ref": element.ref}
        x, y = element.middle
        return {"do": "click_at", "x": x, "y": y}

    @staticmethod
    def fill(element, value):
        return {"do": "set_value", "ref": element.ref, "value": value}

    @staticmethod
    def drag(start, end):
        point = lambda place: {"x": place[0], "y": place[1]}
        return {"do": "drag", "from": point(start), "to": point(end)}

    def press(self, *names):
        """Looks, and clicks the buttons of these names in one call."""
        self.look()
        self.act(*[self.click(self.one(name=name)) for name in names])

    def quoted(self, number=0):
        return re.findall(r'"([^"]*)"', self.query)[number]
