#!/usr/bin/env python3
"""The second opinion: walks an application's windows through AT-SPI and prints what it sees, as JSON.

It shares nothing with the server under test, takes its time, asks one question after the other and believes no
cache. Each line on standard input is a request, each line on standard output its answer:

    {"pid": 12}                             every window of the process as a tree
    {"pid": 12, "window": "Save As"}        only the window with that name
    {"pid": 12, "flat": true, ...}          without children: only how many, of which role and name

An answer is {"windows": [...]} or {"error": "..."}. A node is {role, name, states, extents, children} and, where
the application offers them, text, value and actions. Roles and states have AT-SPI's own names.
"""
import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

import pyatspi  # noqa: E402

DEEPEST = 80
INTERFACES = {"Text": "queryText", "Value": "queryValue", "Action": "queryAction"}


def attempt(question, otherwise=None):
    """What an application answers; one that fails or leaves in the middle is no reason to stop."""
    try:
        return question()
    except Exception:  # noqa: BLE001 - GLib raises what it likes
        return otherwise


def states_of(node):
    found = attempt(lambda: node.getState().getStates(), [])
    return sorted(pyatspi.stateToString(state) for state in found)


def extents_of(node):
    box = attempt(lambda: node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS))
    return None if box is None else [box.x, box.y, box.width, box.height]


def facts_of(node):
    facts = {
        "role": attempt(node.getRoleName, "?"),
        "name": attempt(lambda: node.name, ""),
        "states": states_of(node),
        "extents": extents_of(node),
    }
    text = attempt(lambda: node.queryText().getText(0, -1))
    if text is not None:
        facts["text"] = text
    value = attempt(node.queryValue)
    if value is not None:
        facts["value"] = attempt(lambda: value.currentValue)
    action = attempt(node.queryAction)
    if action is not None:
        facts["actions"] = attempt(lambda: [action.getName(at) for at in range(action.nActions)], [])
    return facts


def tree_of(node, depth=0):
    facts = facts_of(node)
    facts["children"] = []
    if depth < DEEPEST:
        for at in range(attempt(lambda: node.childCount, 0)):
            child = attempt(lambda at=at: node.getChildAtIndex(at))
            if child is not None:
                facts["children"].append(tree_of(child, depth + 1))
    return facts


def flat_of(node, depth=0):
    """Role and name only, which a walk of thousands can afford."""
    rows = [[attempt(node.getRoleName, "?"), attempt(lambda: node.name, "")]]
    if depth < DEEPEST:
        for at in range(attempt(lambda: node.childCount, 0)):
            child = attempt(lambda at=at: node.getChildAtIndex(at))
            if child is not None:
                rows.extend(flat_of(child, depth + 1))
    return rows


def applications_of(pid):
    desktop = pyatspi.Registry.getDesktop(0)
    desktop.set_cache_mask(Atspi.Cache.NONE)
    for at in range(desktop.childCount):
        application = attempt(lambda at=at: desktop.getChildAtIndex(at))
        if application is not None and attempt(application.get_process_id) == pid:
            application.set_cache_mask(Atspi.Cache.NONE)
            yield application


def windows_of(pid, name):
    for application in applications_of(pid):
        for at in range(attempt(lambda application=application: application.childCount, 0)):
            window = attempt(lambda application=application, at=at: application.getChildAtIndex(at))
            if window is not None and name in (None, attempt(lambda window=window: window.name)):
                yield window


def answer(request):
    look = flat_of if request.get("flat") else tree_of
    return {"windows": [look(window) for window in windows_of(request["pid"], request.get("window"))]}


def main():
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as problem:  # noqa: BLE001 - the test says what it makes of it
            reply = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
