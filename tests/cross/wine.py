"""The Windows program under Wine: what it answers, what it sees, and what its inputs do.

    wine.py PROGRAM WINDOW          both are Windows programs; the display and the prefix come from the environment

What the inputs did is read from the file that the other program writes, never from a reply. Wine has no UI Automation,
so elements are not tested here; that the server says so is.
"""

import base64
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

PATIENCE = 60
TITLE = "Cross window"
RED = (220, 20, 60)


class Server:
    """The program, spoken to line by line."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            ["wine", program, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
            # Wine's Start menu is empty.
            env={**os.environ, "OSO_LAUNCH__PROGRAMS": "any"},
        )
        self.said = []
        threading.Thread(target=self._listen, daemon=True).start()
        self.number = 0
        self.facts = self.ask("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wine.py", "version": "1"},
        })
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _listen(self):
        for line in self.process.stderr:
            self.said.append(line.rstrip())

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        answer = []
        reader = threading.Thread(target=lambda: answer.append(self._answer(self.number)), daemon=True)
        reader.start()
        reader.join(PATIENCE)
        if not answer or answer[0] is None:
            raise AssertionError(f"no answer to {method}; it said: {self.said[-20:]}")
        return answer[0]

    def _answer(self, number):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
        return None

    def call(self, tool, **arguments):
        """What the tool answered; an error is an answer too, and stands in the text alone."""
        reply = self.reply(tool, **arguments)
        if "structuredContent" in reply:
            return reply["structuredContent"]
        return json.loads(next(part["text"] for part in reply["content"] if part["type"] == "text"))

    def reply(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def end(self):
        self.process.stdin.close()
        return self.process.wait(PATIENCE)


class Window:
    """The other program, and what it has written down."""

    def __init__(self, program, folder, title, x, y):
        self.title = title
        self.log = pathlib.Path(folder) / f"{title}.log"
        path = "Z:" + str(self.log).replace("/", "\\")
        self.process = subprocess.Popen(["wine", program, path, title, str(x), str(y)])
        self.await_line("ready")

    def lines(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def await_line(self, beginning):
        return until(lambda: next((line for line in reversed(self.lines()) if line.startswith(beginning)), None),
                     lambda: f"'{beginning}' in {self.lines()}")

    def forget(self):
        self.log.write_text("")


def until(look, what):
    end = time.monotonic() + PATIENCE / 2
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what() if callable(what) else what}")


def pixels(png):
    """Width, height and a function that tells a pixel, of a PNG with eight bits a channel and no interlacing."""
    chunks, at = {}, 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        chunks.setdefault(kind, b"")
        chunks[kind] += png[at + 8:at + 8 + length]
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert depth == 8 and interlaced == 0 and colour in (2, 6), "another kind of PNG"
    step = 3 if colour == 2 else 4
    stream = io.BytesIO(zlib.decompress(chunks[b"IDAT"]))
    rows, before = [], bytearray(width * step)
    for _ in range(height):
        kind, row = stream.read(1)[0], bytearray(stream.read(width * step))
        guess = GUESSES[kind]
        for i in range(len(row) if guess else 0):
            left, corner = (row[i - step], before[i - step]) if i >= step else (0, 0)
            row[i] = (row[i] + guess(left, before[i], corner)) & 255
        rows.append(row)
        before = row
    return width, height, lambda x, y: tuple(rows[y][x * step:x * step + 3])


def paeth(left, up, corner):
    guess = left + up - corner
    return min((left, up, corner), key=lambda it: abs(guess - it))


# What PNG's five filters take away from a byte; the first takes nothing.
GUESSES = [None, lambda left, up, corner: left, lambda left, up, corner: up,
           lambda left, up, corner: (left + up) // 2, paeth]


def picture(reply):
    image = next((part for part in reply["content"] if part["type"] == "image"), None)
    assert image, reply
    return pixels(base64.b64decode(image["data"]))


def client_origin(window):
    """Where the window's own pixels begin, found by its red square, which is at 20,120 of them."""
    width, height, pixel = picture(SERVER.reply("get_screenshot", window_uid=window["window_uid"]))
    bounds = window["bounds"]
    assert (width, height) == (bounds["width"], bounds["height"]), (width, height, bounds)
    red = [(x, y) for y in range(height) for x in range(width) if pixel(x, y) == RED]
    assert red, "the picture does not show the red square"
    x, y = min(x for x, _ in red), min(y for _, y in red)
    assert len(red) == 100 * 100, f"{len(red)} red pixels instead of a whole square"
    return bounds["x"] + x - 20, bounds["y"] + y - 120


def seen(title=TITLE):
    windows = SERVER.call("list_windows")["windows"]
    return next((window for window in windows if window["title"] == title), None)


def at_field():
    x, y = client_origin(seen())
    return {"x": x + 100, "y": y + 32}


# ---- the checks ---------------------------------------------------------------------------------------------

def answers_the_handshake():
    assert SERVER.facts["serverInfo"]["name"] == "os-screen-observer", SERVER.facts
    names = [tool["name"] for tool in SERVER.ask("tools/list", {})["tools"]]
    assert "list_windows" in names and len(names) > 40, names


def says_what_it_can():
    facts = SERVER.call("get_capabilities")
    assert facts["platform"] == "Windows" and facts["adapter"] == "WindowsAdapter", facts
    supports = facts["supports"]
    assert supports["accessibility_tree"] is False and supports["uia_invoke"] is False, supports
    assert supports["drag"] and supports["bring_to_foreground"] and supports["occlusion_detection"], supports
    assert "UI Automation" in json.dumps(facts), "it does not say what is missing"


def lists_the_window():
    window = until(seen, lambda: SERVER.call("list_windows"))
    assert window["process"] == "window.exe" and window["focused"], window
    assert window["bounds"]["width"] == 420 and window["bounds"]["height"] == 300, window


def tells_the_monitor():
    monitors = SERVER.call("get_monitors")["monitors"]
    assert len(monitors) == 1, monitors
    size = json.dumps(monitors[0])
    assert "1280" in size and "800" in size, monitors


def pictures_the_screen():
    # Without a window in front the whole screen is meant; with one, the region names it.
    region = {"x": 0, "y": 0, "width": 1280, "height": 800}
    width, height, pixel = picture(SERVER.reply("get_screenshot", region=region))
    assert (width, height) == (1280, 800), (width, height)
    colours = {pixel(x, y) for y in range(0, height, 7) for x in range(0, width, 7)}
    assert len(colours) > 3 and RED in colours, f"{len(colours)} colours, red: {RED in colours}"


def pictures_the_window():
    client_origin(seen())


def types_any_text():
    point = at_field()
    SERVER.call("click_at", **point)
    SERVER.call("type_text", text="Grüße, 世界 €")
    until(lambda: WINDOW.lines()[-1:] == ["text Grüße, 世界 €"], WINDOW.lines)
    # What was typed is also to be seen: the field has dark pixels now.
    _, _, pixel = picture(SERVER.reply("get_screenshot", window_uid=seen()["window_uid"]))
    bounds = seen()["bounds"]
    x, y = point["x"] - 75 - bounds["x"], point["y"] - bounds["y"]
    dark = [1 for dx in range(120) for dy in range(-8, 9) if sum(pixel(x + dx, y + dy)) < 300]
    assert len(dark) > 30, f"{len(dark)} dark pixels in the field"


def choose_all():
    """Wine's fields do not know ctrl+a."""
    SERVER.call("press_key", keys="end")
    SERVER.call("press_key", keys="shift+home")


def presses_combinations():
    choose_all()
    SERVER.call("press_key", keys="delete")
    until(lambda: WINDOW.lines()[-1:] == ["text "], WINDOW.lines)
    SERVER.call("type_text", text="abc")
    SERVER.call("press_key", keys="shift+left")
    SERVER.call("type_text", text="X")
    until(lambda: WINDOW.lines()[-1:] == ["text abX"], WINDOW.lines)


def clicks_where_it_is_told():
    x, y = client_origin(seen())
    SERVER.call("click_at", x=x + 60, y=y + 75)
    WINDOW.await_line("pressed")
    SERVER.call("click_at", x=x + 301, y=y + 203)
    assert WINDOW.await_line("down") == "down 301 203", WINDOW.lines()
    SERVER.call("click_at", x=x + 302, y=y + 204, button="right")
    assert WINDOW.await_line("right") == "right 302 204", WINDOW.lines()


def drags_and_scrolls():
    x, y = client_origin(seen())
    WINDOW.forget()
    SERVER.call("drag", **{"from": {"x": x + 200, "y": y + 150}, "to": {"x": x + 260, "y": y + 190}, "duration_s": 0.2})
    assert WINDOW.await_line("up") == "up 260 190", WINDOW.lines()
    assert WINDOW.await_line("down") == "down 200 150", WINDOW.lines()
    SERVER.call("scroll", clicks=-2, x=x + 200, y=y + 150)
    until(lambda: WINDOW.lines()[-2:] == ["wheel -1 0"] * 2, WINDOW.lines)


def tells_where_the_pointer_is():
    x, y = client_origin(seen())
    SERVER.call("hover_at", x=x + 33, y=y + 44)
    cursor = SERVER.call("get_cursor")
    assert (cursor["x"], cursor["y"]) == (x + 33, y + 44), cursor


def hands_texts_over():
    SERVER.call("clipboard_set", text="über die Ablage")
    assert SERVER.call("clipboard_get")["text"] == "über die Ablage"
    SERVER.call("click_at", **at_field())
    choose_all()
    SERVER.call("press_key", keys="ctrl+v")
    until(lambda: WINDOW.lines()[-1:] == ["text über die Ablage"], WINDOW.lines)


def changes_windows():
    moved = SERVER.call("window_action", action="move", title=TITLE, x=200, y=160)
    assert moved["reached"], moved
    assert (seen()["bounds"]["x"], seen()["bounds"]["y"]) == (200, 160), seen()
    grown = SERVER.call("window_action", action="resize", title=TITLE, width=500, height=340)
    assert grown["reached"] and seen()["bounds"]["width"] == 500, grown
    full = SERVER.call("window_action", action="maximize", title=TITLE)
    assert full["reached"] and full["final"]["maximized"] and seen()["bounds"]["width"] >= 1280, full
    assert SERVER.call("window_action", action="restore", title=TITLE)["reached"]
    assert seen()["bounds"]["width"] == 500, seen()
    assert SERVER.call("window_action", action="minimize", title=TITLE)["reached"]
    refused = SERVER.call("get_screenshot", window_uid=seen()["window_uid"])
    assert "minimized" in json.dumps(refused), refused
    assert SERVER.call("window_action", action="restore", title=TITLE)["reached"]
    until(lambda: not seen().get("minimized"), seen)


def moves_what_is_not_restored():
    """It is restored first, and keeps the size that it had."""
    assert SERVER.call("window_action", action="maximize", title=TITLE)["reached"]
    moved = SERVER.call("window_action", action="move", title=TITLE, x=90, y=70)
    assert moved["reached"] and not moved["final"]["maximized"], moved
    bounds = seen()["bounds"]
    assert (bounds["x"], bounds["y"], bounds["width"], bounds["height"]) == (90, 70, 500, 340), bounds
    assert SERVER.call("window_action", action="minimize", title=TITLE)["reached"]
    grown = SERVER.call("window_action", action="resize", title=TITLE, width=480, height=320)
    assert grown["reached"] and not seen().get("minimized"), grown
    bounds = seen()["bounds"]
    assert (bounds["x"], bounds["y"], bounds["width"], bounds["height"]) == (90, 70, 480, 320), bounds


def brings_to_the_front():
    OTHERS.append(Window(sys.argv[2], FOLDER, "Second window", 240, 200))
    until(lambda: seen("Second window"), "the second window")
    WINDOW.forget()
    reached = SERVER.call("window_action", action="focus", title=TITLE)
    assert reached["reached"], reached
    WINDOW.await_line("active")
    until(lambda: seen()["focused"], seen)
    # It is also above the other: its picture is whole, read off the screen.
    client_origin(seen())


def says_that_a_window_is_covered():
    SERVER.call("window_action", action="focus", title="Second window")
    reply = SERVER.reply("get_screenshot", window_uid=seen()["window_uid"])
    if any(part["type"] == "image" for part in reply["content"]):
        # Wine draws a covered window in one flat colour; whoever gets a picture gets a true one.
        client_origin(seen())
    else:
        assert "covers it" in json.dumps(reply), reply
    SERVER.call("window_action", action="focus", title=TITLE)


def a_tree_is_missing_and_says_why():
    tree = SERVER.call("get_window_structure", window_uid=seen()["window_uid"])
    assert "UI Automation" in json.dumps(tree), tree


def finds_and_starts_programs():
    apps = SERVER.call("list_apps")
    assert "window.exe" in json.dumps(apps["running"]), apps
    refused = SERVER.call("launch_app", program="no-such-program")
    assert "no-such-program" in json.dumps(refused), refused
    started = SERVER.call("launch_app", program="notepad")
    assert started.get("window_found"), started
    assert any(window["process"] == "notepad.exe" for window in SERVER.call("list_windows")["windows"]), started
    assert SERVER.call("window_action", action="close", process="notepad.exe")["reached"]


def closes_windows():
    closed = SERVER.call("window_action", action="close", title="Second window")
    assert closed["reached"], closed
    OTHERS[0].await_line("closed")
    assert seen("Second window") is None


def waits_for_changes():
    """A window that comes while the server waits ends the wait; one that never comes does not."""
    comes = [{"type": "window_appears", "title_regex": "^Third"}]
    in_vain = SERVER.call("wait_for", any_of=comes, timeout_ms=300)
    assert not in_vain["ok"], in_vain
    later = threading.Timer(0.5, lambda: OTHERS.append(Window(sys.argv[2], FOLDER, "Third window", 300, 260)))
    later.start()
    answer = SERVER.call("wait_for", any_of=comes, timeout_ms=20000)
    later.join()
    assert answer["ok"] and answer["matched_index"] == 0, answer
    assert SERVER.call("window_action", action="close", title="Third window")["reached"]


def one_server_acts_at_a_time():
    x, y = client_origin(seen())
    SERVER.call("click_at", x=x + 301, y=y + 203)
    WINDOW.await_line("down")
    WINDOW.forget()
    second = Server(sys.argv[1], "--mode", "mcp")
    refused = second.call("click_at", x=x + 301, y=y + 203)
    assert refused.get("error", {}).get("code") == "DesktopBusy", refused
    assert second.call("list_windows")["ok"], "looking is refused too"
    assert second.end() == 0
    assert not any(line.startswith("down") for line in WINDOW.lines()), WINDOW.lines()


def works_the_mock_too():
    mock = Server(sys.argv[1], "--mode", "mcp", "--mock")
    windows = mock.call("list_windows")
    assert windows["is_mock"] and windows["count"] == 3, windows
    tree = mock.call("get_window_structure", window_index=0)
    assert tree["tree_hash"].startswith("sha1:"), tree
    clicked = mock.call("click_element", window_index=0, selector='Window/MenuBar/MenuItem[name="Edit"]')
    assert "error" not in clicked, clicked
    assert mock.end() == 0


def the_doctor_says_how_it_is():
    doctor = subprocess.run(["wine", sys.argv[1], "doctor"], capture_output=True, text=True, timeout=PATIENCE)
    assert "1280x800 pixels" in doctor.stdout and "UI Automation" in doctor.stdout, doctor.stdout


def starts_console_programs_with_a_console():
    """What such a program writes goes to a console, and not to nowhere."""
    told = pathlib.Path(FOLDER) / "console.txt"
    path = "Z:" + str(told).replace("/", "\\")
    SERVER.call("launch_app", program="cmd", args=["/c", f"echo shown > CON && echo so > {path}"], timeout_ms=500)
    until(lambda: told.exists() and "so" in told.read_text(errors="replace"), "the word of the console program")


def ends_when_nobody_speaks_to_it():
    """And the client gets the end of its output, although a program that it started goes on."""
    started = SERVER.call("launch_app", program="notepad")
    assert started.get("window_found"), started
    code = SERVER.end()
    assert code == 0, (code, SERVER.said[-20:])
    rest = []
    reader = threading.Thread(target=lambda: rest.append(SERVER.process.stdout.read()), daemon=True)
    reader.start()
    reader.join(PATIENCE / 4)
    assert rest, "the output does not end"


CHECKS = [
    answers_the_handshake, says_what_it_can, lists_the_window, tells_the_monitor, pictures_the_screen,
    pictures_the_window, types_any_text, presses_combinations, clicks_where_it_is_told, drags_and_scrolls,
    tells_where_the_pointer_is, one_server_acts_at_a_time, hands_texts_over, changes_windows, brings_to_the_front,
    says_that_a_window_is_covered, a_tree_is_missing_and_says_why, moves_what_is_not_restored,
    finds_and_starts_programs, closes_windows, waits_for_changes, works_the_mock_too, the_doctor_says_how_it_is,
    starts_console_programs_with_a_console, ends_when_nobody_speaks_to_it,
]

if __name__ == "__main__":
    failed = 0
    OTHERS = []
    with tempfile.TemporaryDirectory() as FOLDER:
        os.chdir(FOLDER)
        WINDOW = Window(sys.argv[2], FOLDER, TITLE, 60, 40)
        SERVER = Server(sys.argv[1], "--mode", "mcp")
        for check in CHECKS:
            try:
                check()
                print(f"ok      {check.__name__}")
            except Exception as problem:  # one check that breaks must not hide the others
                failed += 1
                print(f"FAILED  {check.__name__}: {type(problem).__name__}: {problem}")
    print(f"{len(CHECKS) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
