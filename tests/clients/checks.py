"""What a foreign MCP client must find at the server, whichever library it is written with.

A client library is wrapped in a `Desk`; everything here speaks only of desks, so the same checks run
through every library and every protocol era. Each check gets a server of its own, because a scenario
that one check loads must not be seen by the next.

Must not know: how a library names its classes, how the server is built, or any tool that is not listed.
"""

import base64
import json
import os
import re
import struct
import sys
import tempfile
from pathlib import Path

import anyio
from jsonschema import Draft202012Validator

PROJECT = Path(__file__).resolve().parents[2]
LOGIN_SCENARIO = "scenarios/login.yaml"
APPS_SCENARIO = "scenarios/apps.yaml"
SECONDS_PER_CHECK = 60

DEFAULT_TREE_HASH = "sha1:c6d1c5dcac4098d1f2611051fa1372c9311d05f0"
LOGIN_TREE_HASH = "sha1:fea1872051222609de110f1d998873b68a4e8faf"
WELCOME_TREE_HASH = "sha1:e7106eade464b8752bdca437379f6d39e0a45dec"

DOCUMENT = "Window/Document"
EDIT_MENU = 'Window/MenuBar/MenuItem[name="Edit"]'
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

# One sensible call of every tool: its arguments, and the keys that its reply must have.
CALLS = {
    "list_windows": ({}, "is_mock count windows"),
    "get_capabilities": ({}, "platform adapter version protocol_version supports config"),
    "get_monitors": ({}, "monitors"),
    "get_window_structure": ({"window_index": 0}, "window window_uid element_count node_count tree tree_hash tree_token truncated"),
    "find_element": ({"window_index": 0, "selector": EDIT_MENU}, "window_uid element_id selector bounds ambiguous_matches all_matches"),
    "look": ({}, "window window_uid elements shown dropped"),
    "act": ({"steps": [{"do": "press_key", "keys": "end"}, {"do": "wait_idle", "quiet_ms": 0}]}, "verdict steps window_uid"),
    "find": ({"text": "Edit"}, "count not_listed matches"),
    "get_screen_sketch": ({"window_index": 0, "grid_width": 60, "grid_height": 20}, "window grid_width grid_height sketch"),
    "get_screen_description": ({"window_index": 0}, "window window_uid effective_mode description truncated"),
    "get_screenshot": ({"window_index": 0}, "width height"),
    "get_full_screenshot": ({"window_index": 0}, "width height"),
    "get_screenshot_cropped": ({"window_index": 0, "element_id": "root.0.1", "padding_px": 2}, "width height source_bbox image_id scale"),
    "zoom": ({"x": 300, "y": 200}, "width height source_bbox image_id scale grid"),
    "get_ocr": ({"window_index": 0}, "window window_uid words"),
    "ocr_find": ({"window_index": 0, "text": "Edit"}, "area count not_listed matches"),
    "get_visible_areas": ({"window_index": 0}, "window window_uid visible_regions"),
    "bring_to_foreground": ({"window_index": 0}, "success action window window_uid"),
    "window_action": ({"action": "focus", "title": "Notepad"}, "action reached window_uid window new_dialogs"),
    "list_apps": ({}, "running installed not_listed"),
    "get_cursor": ({}, "x y window"),
    "clipboard_get": ({}, "characters"),
    "clipboard_set": ({"text": "hi"}, "characters"),
    "click_text": ({"window_index": 0, "text": "Edit", "match": "exact"}, "action dry_run found target changed new_dialogs duration_ms"),
    "click_at": ({"x": 100, "y": 100}, "success action duration_ms new_dialogs"),
    "type_text": ({"text": "hi"}, "success action"),
    "press_key": ({"keys": "ctrl+a"}, "success action"),
    "scroll": ({"clicks": -3, "x": 200, "y": 200}, "success action"),
    "click_element": ({"window_index": 0, "selector": EDIT_MENU}, "action dry_run target before after changed new_dialogs duration_ms"),
    "wait_for": ({"any_of": [{"type": "window_appears", "title_regex": "Notepad"}]}, "matched_index matched_detail elapsed_ms polls"),
    "wait_idle": ({"window_index": 0, "quiet_ms": 60}, "elapsed_ms tree_hash"),
    "assert_state": ({"predicate": {"kind": "window_focused", "title_regex": "Notepad"}}, "all_passed results"),
    "focus_element": ({"window_index": 0, "selector": DOCUMENT}, "action dry_run target before after changed new_dialogs duration_ms"),
    "invoke_element": ({"window_index": 0, "selector": EDIT_MENU}, "action dry_run target before after changed new_dialogs duration_ms"),
    "set_value": ({"window_index": 0, "selector": DOCUMENT, "value": "abc"}, "action dry_run target before after changed new_dialogs duration_ms"),
    "clear_text": ({"window_index": 0, "selector": DOCUMENT}, "action dry_run target before after changed new_dialogs duration_ms"),
    "select_option": ({"window_index": 0, "selector": EDIT_MENU, "option_name": "View"}, "action dry_run target before after changed new_dialogs duration_ms"),
    "key_into_element": ({"window_index": 0, "selector": DOCUMENT, "keys": "end"}, "action dry_run target before after changed new_dialogs duration_ms"),
    "right_click_element": ({"window_index": 0, "selector": EDIT_MENU}, "action dry_run target before after changed new_dialogs duration_ms"),
    "double_click_element": ({"window_index": 0, "selector": EDIT_MENU}, "action dry_run target before after changed new_dialogs duration_ms"),
    "hover_element": ({"window_index": 0, "selector": EDIT_MENU, "hover_ms": 1}, "action dry_run target before after changed new_dialogs duration_ms"),
    "click_element_and_observe": ({"window_index": 0, "selector": EDIT_MENU, "wait_after_ms": 0}, "action target changed observation"),
    "type_and_observe": ({"text": "x", "wait_after_ms": 0}, "action observation"),
    "press_key_and_observe": ({"keys": "end", "wait_after_ms": 0}, "action observation"),
    "hover_at": ({"x": 5, "y": 5, "hover_ms": 1}, "action x y hover_ms"),
    "drag": ({"from": {"x": 10, "y": 10}, "to": {"selector": EDIT_MENU}, "duration_s": 0}, "action from to modifiers path"),
    "propose_action": ({"action": "click_element", "args": {"window_index": 0, "selector": EDIT_MENU}}, "confirm_token expires_at would_target"),
    "load_scenario": ({"path": APPS_SCENARIO}, "scenario state states"),
    "launch_app": ({"program": "calculator"}, "executed argv pid window_found window"),
    "observe_window": ({"window_index": 0}, "format window_uid window tree tree_hash tree_token base_token depth_used depth_truncated perf"),
    "vision_diff": ({"window_index": 0, "wait_ms": 1}, "mode changed diff_ratio changed_pixels boxes source_bbox frame_id"),
    "vision_stability": ({"window_index": 0, "duration_ms": 40}, "stable sample_count max_ratio avg_ratio boxes"),
    "snapshot": ({}, "snapshot_id ts summary"),
    "snapshot_get": ({"snapshot_id": "now"}, "snapshot_id ts windows trees tree_hashes"),
    "snapshot_diff": ({"a": "now", "b": "now"}, "windows_added windows_removed per_window_changes"),
    "snapshot_drop": ({"snapshot_id": "snap:0000000000000000"}, "dropped"),
    "get_budget_status": ({}, "configured"),
    "get_redaction_status": ({}, "enabled active"),
    "trace_start": ({"label": "checks"}, "trace_id started_at dir"),
    "trace_status": ({}, "active_trace_id step_count dir"),
    "trace_stop": ({}, "trace_id path step_count duration_ms"),
    "replay_start": ({"path": "latest"}, "replay_id total mode label"),
    "replay_step": ({"replay_id": "rep:1"}, "finished position total"),
    "replay_status": ({"replay_id": "rep:1"}, "replay_id position total finished divergences mode"),
    "replay_stop": ({"replay_id": "rep:1"}, "stopped"),
}

# Calls that must be refused: tool, arguments, error code, and a word that the message must contain.
REFUSALS = [
    ("type_text", {}, "BadRequest", "text"),
    ("type_text", {"text": "a", "txet": "b"}, "BadRequest", "txet"),
    ("click_at", {"x": "left", "y": 1}, "BadRequest", "x"),
    ("click_element", {"window_index": 0}, "BadRequest", "selector"),
    ("find_element", {"window_index": 0, "selector": 'Window/Nope[name="X"]'}, "ElementNotFound", "Nope"),
    ("find_element", {"window_uid": "no:such", "selector": EDIT_MENU}, "WindowGone", "no:such"),
    ("load_scenario", {"path": "scenarios/no-such-file.yaml"}, "ScenarioInvalid", "no-such-file"),
]


class Refused(Exception):
    """The server answered with a JSON-RPC error instead of a tool result."""


class Desk:
    """One connection to one server. A client library is adapted by subclassing this.

    `list_tools` and `call` return plain dictionaries with the names of the wire (`isError`, not `is_error`).
    `stray` collects whatever arrived on stdout that was not part of the protocol.
    """

    def __init__(self):
        self.stray = []
        self.protocol_version = ""
        self.server_name = None
        self.instructions = None

    async def list_tools(self):
        raise NotImplementedError

    async def call(self, name, arguments, on_progress=None):
        raise NotImplementedError

    async def list_resources(self):
        raise NotImplementedError

    async def read_resource(self, uri):
        """The first of its contents."""
        raise NotImplementedError

    async def list_prompts(self):
        raise NotImplementedError

    async def get_prompt(self, name, arguments):
        raise NotImplementedError

    async def complete(self, template, argument, value):
        """The values that a variable of a resource template may have."""
        raise NotImplementedError

    async def on_message(self, message):
        """For the library's message handler: it hands over what it could not parse as an exception."""
        if isinstance(message, Exception):
            self.stray.append(str(message))

    async def reply(self, name, arguments):
        """The JSON of a call that has to succeed."""
        result = await self.call(name, arguments)
        reply = payload(result)
        assert not result.get("isError"), f"{name} failed: {reply}"
        return reply


class Report:
    """Counts, and says at once what failed: one line a check."""

    def __init__(self, label):
        self.label, self.passed, self.failed = label, 0, 0

    def check(self, what, truth, detail=""):
        if truth:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED [{self.label}] {what}: {str(detail)[:400]}".rstrip(" :"), flush=True)


def as_wire(model):
    """A value of a client library with the names that it has on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def payload(result):
    """What the tool said, as JSON: the structured content, or else the first text block."""
    if result.get("structuredContent") is not None:
        return result["structuredContent"]
    return json.loads(first_text(result))


def first_text(result):
    return next(block["text"] for block in result["content"] if block["type"] == "text")


def nodes(tree):
    """Every node of a tree reply, without recursion."""
    waiting, seen = [tree], []
    while waiting:
        node = waiting.pop()
        seen.append(node)
        waiting.extend(node.get("children", []))
    return seen


async def handshake(desk, report):
    report.check("the server names itself", desk.server_name in (None, "os-screen-observer"), desk.server_name)
    if desk.server_name is not None:
        instructions = desk.instructions or ""
        report.check("instructions are given and fit into 2 KB", 0 < len(instructions) <= 2048, len(instructions))


async def tools_are_declared_well(desk, report):
    tools = await desk.list_tools()
    names = [tool["name"] for tool in tools]
    report.check("no tool is listed twice", len(names) == len(set(names)), names)
    report.check("every tool of the table is listed", set(CALLS) <= set(names), set(CALLS) - set(names))
    report.check("every listed tool is in the table", set(names) <= set(CALLS), set(names) - set(CALLS))
    for tool in tools:
        check_declaration(tool, report)


def check_declaration(tool, report):
    name, hints = tool["name"], tool.get("annotations", {})
    report.check(f"{name}: a portable name", re.fullmatch("[a-z0-9_]{1,40}", name))
    report.check(f"{name}: a description", tool.get("description"))
    report.check(f"{name}: all four hints", all(isinstance(hints.get(hint), bool) for hint in HINTS), hints)
    only_reads = name.startswith(("get_", "list_", "find", "look", "observe_", "snapshot")) and name != "snapshot_drop"
    only_reads = only_reads or name.endswith(("_status", "_get", "_find")) or name.startswith(("wait_", "assert_", "vision_")) or name == "zoom"
    report.check(f"{name}: readOnlyHint tells the truth", hints.get("readOnlyHint") is only_reads, hints)
    report.check(f"{name}: reading destroys nothing", not (only_reads and hints.get("destructiveHint")), hints)
    check_schema(f"{name}: inputSchema", tool["inputSchema"], report)
    if "outputSchema" in tool:
        check_schema(f"{name}: outputSchema", tool["outputSchema"], report)


def check_schema(label, schema, report):
    Draft202012Validator.check_schema(schema)
    report.check(f"{label} is an object", schema.get("type") == "object", schema.get("type"))
    text = json.dumps(schema)
    report.check(f"{label} has no references", '"$ref"' not in text and '"$defs"' not in text)


async def every_tool_answers(desk, report):
    tools = {tool["name"]: tool for tool in await desk.list_tools()}
    for name in (name for name in CALLS if name in tools):
        arguments, keys = CALLS[name]
        check_answer(tools[name], await desk.call(name, arguments), keys.split(), report)


def check_answer(tool, result, keys, report):
    name, reply = tool["name"], payload(result)
    report.check(f"{name} succeeds", not result.get("isError") and reply.get("ok", True) is True, reply)
    missing = [key for key in keys if key not in reply]
    report.check(f"{name}: the reply is complete", not missing, f"missing {missing}, got {sorted(reply)}")
    structured = result.get("structuredContent")
    if "outputSchema" not in tool:
        report.check(f"{name}: structuredContent only with an outputSchema", structured is None)
        return
    problems = [error.message for error in Draft202012Validator(tool["outputSchema"]).iter_errors(structured)]
    report.check(f"{name}: structuredContent obeys the outputSchema", not problems, problems)
    report.check(f"{name}: the text says the same", json.loads(first_text(result)) == structured)


async def refusals_carry_the_envelope(desk, report):
    for name, arguments, code, word in REFUSALS:
        result = await desk.call(name, arguments)
        label, reply = f"{name} {json.dumps(arguments)}", payload(result)
        error = reply.get("error", {})
        report.check(f"{label}: isError", result.get("isError") is True, reply)
        report.check(f"{label}: ok and success are false", reply.get("ok") is False and reply.get("success") is False, reply)
        report.check(f"{label}: code {code}", error.get("code") == code, reply)
        report.check(f"{label}: the message names {word!r}", re.search(rf"\b{re.escape(word)}\b", str(error.get("message"))), reply)
        missing = {"recoverable", "suggested_next_tool", "context"} - set(error)
        report.check(f"{label}: the envelope is complete", not missing, missing)


async def unknown_tools_are_refused(desk, report):
    try:
        result = await desk.call("no_such_tool", {})
        report.check("an unknown tool is an error", result.get("isError") is True, result)
    except Refused as refusal:
        report.check("the refusal names the unknown tool", "no_such_tool" in str(refusal), refusal)
    report.check("the connection survives an unknown tool", (await desk.reply("list_windows", {}))["count"] == 3)


async def screenshots_are_image_blocks(desk, report):
    for name in ("get_screenshot", "get_full_screenshot"):
        result = await desk.call(name, {"window_index": 0})
        images = [block for block in result["content"] if block["type"] == "image"]
        report.check(f"{name}: one image block", len(images) == 1, [block["type"] for block in result["content"]])
        for image in images:
            check_png(name, image, payload(result), report)
        report.check(f"{name}: no picture inside the text", "iVBORw0KGgo" not in first_text(result))


def check_png(name, image, reply, report):
    picture = base64.b64decode(image["data"], validate=True)
    report.check(f"{name}: image/png", image["mimeType"] == "image/png", image["mimeType"])
    report.check(f"{name}: the bytes are a PNG", picture.startswith(b"\x89PNG\r\n\x1a\n"))
    size = struct.unpack(">II", picture[16:24])
    report.check(f"{name}: the stated size is the size", size == (reply.get("width"), reply.get("height")), size)


async def the_default_desktop_works(desk, report):
    windows = (await desk.reply("list_windows", {}))["windows"]
    report.check("three windows, the first in focus", len(windows) == 3 and windows[0]["focused"], windows)
    structure = await desk.reply("get_window_structure", {"window_uid": windows[0]["window_uid"]})
    report.check("the default tree has 17 nodes", len(nodes(structure["tree"])) == 17)
    report.check("the default tree has its known hash", structure["tree_hash"] == DEFAULT_TREE_HASH, structure["tree_hash"])
    found = await desk.reply("find_element", {"window_index": 0, "selector": EDIT_MENU})
    receipt = await desk.reply("click_element", {"window_index": 0, "element_id": found["element_id"]})
    report.check("the click went to what was found", receipt["target"]["element_id"] == found["element_id"], receipt)
    report.check("an unchanged window is reported as such", receipt["changed"] is False, receipt)


async def the_login_scenario_works(desk, report):
    loaded = await desk.reply("load_scenario", {"path": LOGIN_SCENARIO})
    report.check("the scenario starts at its start", (loaded["state"], loaded["states"]) == ("start", ["start", "welcome"]), loaded)
    window = await the_login_window(desk, report)
    for field, text in (("Username", "alice"), ("Password", "hunter2")):
        await desk.reply("click_element", {"window_uid": window, "selector": f'Window/Edit[name="{field}"]'})
        typed = await desk.reply("type_text", {"text": text})
        report.check(f"typing into {field} is noticed", typed.get("scenario_reaction") is True, typed)
    await the_fields_are_filled(desk, window, report)
    receipt = await desk.reply("click_element", {"window_uid": window, "selector": 'Window/Button[name="Login"]'})
    report.check("the login button changes the window", receipt["changed"] is True, receipt)
    welcome = await desk.reply("get_window_structure", {"window_index": 0})
    report.check("the welcome window greets", "Hello, alice" in [node["name"] for node in nodes(welcome["tree"])], welcome["tree"])
    report.check("the welcome window has its known hash", welcome["tree_hash"] == WELCOME_TREE_HASH, welcome["tree_hash"])


async def the_login_window(desk, report):
    windows = (await desk.reply("list_windows", {}))["windows"]
    report.check("the login window is alone", [window["title"] for window in windows] == ["Acme Login"], windows)
    start = await desk.reply("get_window_structure", {"window_index": 0})
    report.check("the login window has its known hash", start["tree_hash"] == LOGIN_TREE_HASH, start["tree_hash"])
    return windows[0]["window_uid"]


async def the_fields_are_filled(desk, window, report):
    filled = await desk.reply("get_window_structure", {"window_uid": window})
    values = {node["name"]: node["value"] for node in nodes(filled["tree"])}
    report.check("the user name is shown", values.get("Username") == "alice", values)
    report.check("the password is filled in", values.get("Password"), values)
    report.check("the password is not shown", "hunter2" not in json.dumps(filled))


async def resources_are_what_tools_answer(desk, report):
    resources = {resource["uri"]: resource for resource in await desk.list_resources()}
    outline, picture = (f"screen://window/mock%3Aapp/{part}" for part in ("outline", "picture"))
    expected = {"screen://windows", outline, picture, "ui://os-screen-observer/window"}
    report.check("the resources of one window", set(resources) == expected, sorted(resources))
    report.check("a name has the title", resources[outline]["name"] == "Acme Login: outline", resources[outline])
    for uri, resource in resources.items():
        content = await desk.read_resource(uri)
        report.check(f"{uri}: its type", content["mimeType"] == resource["mimeType"], content["mimeType"])
        report.check(f"{uri}: it is not empty", content.get("text") or content.get("blob"))
    called = await desk.call("get_window_structure", {"format": "outline"})
    read = await desk.read_resource(outline)
    report.check("an outline is the tool's", read["text"] == called["content"][1]["text"], read["text"])
    report.check("an outline is marked", read["_meta"]["untrusted"] is True, read.get("_meta"))
    picture = base64.b64decode((await desk.read_resource(picture))["blob"], validate=True)
    report.check("a picture is a PNG", picture.startswith(b"\x89PNG\r\n\x1a\n"))
    try:
        await desk.read_resource("screen://window/mock:gone/outline")
        report.check("a window that is gone is an error", False)
    except Refused as refusal:
        report.check("the refusal names the window", "mock:gone" in str(refusal), refusal)
    values = await desk.complete("screen://window/{uid}/outline", "uid", "mock:a")
    report.check("a uid is completed", values == ["mock:app"], values)


async def prompts_can_be_picked(desk, report):
    names = [prompt["name"] for prompt in await desk.list_prompts()]
    report.check("four prompts", names == ["describe_screen", "fill_in_form", "record_test", "why_did_that_fail"], names)
    arguments = {"fill_in_form": {"values": "Username: alice"}, "record_test": {"name": "login"}}
    for name in names:
        messages = (await desk.get_prompt(name, arguments.get(name, {})))["messages"]
        report.check(f"{name}: a text first", messages[0]["content"]["type"] == "text", messages)
    embedded = (await desk.get_prompt("describe_screen", {"window": "acme"}))["messages"][1]["content"]
    report.check("an outline is embedded", 'Edit "Username"' in embedded["resource"]["text"], embedded)
    try:
        await desk.get_prompt("fill_in_form", {})
        report.check("a missing argument is an error", False)
    except Refused as refusal:
        report.check("the refusal names the argument", "values" in str(refusal), refusal)


async def progress_tokens_are_harmless(desk, report):
    """The tools are quick, so no progress is owed; what does arrive has to grow."""
    steps = []

    async def on_progress(progress, total=None, message=None):
        steps.append(progress)

    result = await desk.call("get_full_screenshot", {"window_index": 0}, on_progress)
    report.check("a call with a progress token succeeds", not result.get("isError"), result.get("content"))
    report.check("progress only grows", steps == sorted(set(steps)), steps)


async def a_scenario_can_be_given_at_the_start(desk, report):
    windows = (await desk.reply("list_windows", {}))["windows"]
    report.check("--scenario shows its first window", [window["title"] for window in windows] == ["Acme Login"], windows)


# Which checks there are, and the flags of the server that each one needs.
MOCK = ["--mode", "mcp", "--mock"]
LOGIN = [*MOCK, "--scenario", LOGIN_SCENARIO]
CHECKS = [
    (handshake, MOCK),
    (tools_are_declared_well, MOCK),
    (every_tool_answers, MOCK),
    (refusals_carry_the_envelope, MOCK),
    (unknown_tools_are_refused, MOCK),
    (screenshots_are_image_blocks, MOCK),
    (the_default_desktop_works, MOCK),
    (the_login_scenario_works, MOCK),
    (progress_tokens_are_harmless, MOCK),
    (a_scenario_can_be_given_at_the_start, LOGIN),
    (resources_are_what_tools_answer, LOGIN),
    (prompts_can_be_picked, LOGIN),
]


async def run_check(check, connect, report):
    """Runs one check on a fresh server; whatever is thrown is that check's failure and nobody else's."""
    try:
        with anyio.fail_after(SECONDS_PER_CHECK):
            async with connect() as desk:
                await check(desk, report)
                report.check(f"{check.__name__}: stdout carried the protocol only", not desk.stray, desk.stray)
    except Exception as error:  # noqa: BLE001 - a client library may throw anything at all
        report.check(check.__name__, False, describe(error))


def describe(error):
    """The first real error inside nested exception groups, which is the one that tells the cause."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


def server_from_arguments():
    """The server under test: the first argument, else SERVER_UNDER_TEST, else the release build."""
    named = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SERVER_UNDER_TEST")
    server = Path(named or PROJECT / "target/release/os-screen-observer").resolve()
    if not server.is_file():
        sys.exit(f"There is no server at {server}: build it with `cargo build --release`, or name it as argument.")
    return str(server)


async def run_all(client, modes, connect, extra_checks=()):
    """Runs every check in every mode, prints the count, and returns the exit status.

    `connect(server, flags, mode, log)` is an asynchronous context manager that yields a `Desk`.
    """
    server, passed, failed = server_from_arguments(), 0, 0
    for mode in modes:
        report = Report(f"{client}, {mode}")
        with tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace") as log:
            for check, flags in [*CHECKS, *extra_checks]:
                await run_check(check, lambda flags=flags: connect(server, flags, mode, log), report)
            if report.failed:
                show_tail(log)
        print(f"{report.label}: {report.passed} passed, {report.failed} failed", flush=True)
        passed, failed = passed + report.passed, failed + report.failed
    return 0 if failed == 0 and passed > 0 else 1


def show_tail(log):
    log.seek(0)
    print("The last words of the server on stderr:")
    for line in log.read().splitlines()[-20:]:
        print(f"    {line}")
