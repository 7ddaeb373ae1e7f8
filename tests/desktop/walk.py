#!/usr/bin/python3
"""An independent walk over the accessibility bus: what python3-pyatspi sees, one call after the other.

  walk.py apps                      one JSON line for each window: pid, application, toolkit, name, role, extents
  walk.py tree --pid P [--name N]   one JSON line for each node below that window, in pre-order
          --all                     below every window of the process, menus that popped up included
          --brief                   role and name only
  walk.py node --pid P --path 0.3   the node that is reached by these children, counted from 0
  walk.py time --pid P [--name N]   how many nodes a plain walk reads in a second

What is in an element that neither shows nor is visible is left out, unless it is a menu or a combo box.

The tests compare their own trees and what they did to applications with this. It shares no code with them.
"""
import argparse
import json
import sys
import time

import pyatspi

DEEPEST = 64
# A sheet says that it has two billion children.
MOST_CHILDREN = 2000
STATES = ["showing", "visible", "sensitive", "enabled", "focused", "focusable", "selected", "selectable",
          "checked", "checkable", "pressed", "expandable", "expanded", "editable", "active"]


def windows():
    desktop = pyatspi.Registry.getDesktop(0)
    for application in desktop:
        if application is None:
            continue
        try:
            pid = application.get_process_id()
            for window in application:
                if window is not None:
                    yield pid, application, window
        except Exception as problem:
            print(f"walk.py: {problem}", file=sys.stderr)


def extents(node):
    try:
        box = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
        return [box.x, box.y, box.width, box.height]
    except Exception:
        return None


def states_of(node):
    own = node.getState()
    return [name for name in STATES if own.contains(getattr(pyatspi, "STATE_" + name.upper()))]


def text_of(node):
    try:
        text = node.queryText()
        return text.getText(0, min(text.characterCount, 10000))
    except NotImplementedError:
        return None
    except Exception:
        return None


def number_of(node):
    try:
        return node.queryValue().currentValue
    except Exception:
        return None


OPENED = {"menu bar", "menu", "popup menu", "menu item", "check menu item", "radio menu item", "push button menu",
          "combo box"}


def is_put_away(node, parent):
    if parent is None or parent in OPENED or node.getRoleName() in OPENED:
        return False
    states = node.getState()
    return not states.contains(pyatspi.STATE_SHOWING) and not states.contains(pyatspi.STATE_VISIBLE)


def walk(root):
    stack = [(root, 0, None)]
    while stack:
        node, depth, parent = stack.pop()
        if node is None:
            continue
        try:
            yield node, depth
            if depth < DEEPEST and not is_put_away(node, parent):
                children = [node.getChildAtIndex(at) for at in range(min(node.childCount, MOST_CHILDREN))]
                role = node.getRoleName()
                stack.extend((child, depth + 1, role) for child in reversed(children))
        except Exception as problem:
            print(f"walk.py: {problem}", file=sys.stderr)


def find(options):
    found = [window for pid, _, window in windows()
             if pid == options.pid and (options.name is None or window.name == options.name)]
    if not found:
        sys.exit(f"walk.py: no window of process {options.pid} named {options.name}")
    return found[0]


def descend(root, path):
    node = root
    for at in path.split(".") if path else []:
        node = node.getChildAtIndex(int(at))
        if node is None:
            sys.exit(f"walk.py: nothing at {path}")
    return node


def brief(node, depth):
    return {"depth": depth, "role": node.getRoleName(), "code": int(node.getRole()), "name": node.name}


def describe(node, depth):
    return {"depth": depth, "role": node.getRoleName(), "code": int(node.getRole()), "name": node.name,
            "states": states_of(node), "extents": extents(node), "text": text_of(node), "number": number_of(node)}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("what", choices=["apps", "tree", "node", "time"])
    arguments.add_argument("--pid", type=int)
    arguments.add_argument("--name")
    arguments.add_argument("--path", default="")
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--brief", action="store_true")
    options = arguments.parse_args()
    if options.what == "apps":
        for pid, application, window in windows():
            print(json.dumps({"pid": pid, "application": application.name, "toolkit": application.toolkitName,
                              "name": window.name, "role": window.getRoleName(), "extents": extents(window)}))
        return
    if options.all:
        for pid, _, window in windows():
            for node, depth in walk(window) if pid == options.pid else []:
                print(json.dumps(describe(node, depth)))
        return
    root = find(options)
    if options.what == "tree":
        for node, depth in walk(root):
            print(json.dumps((brief if options.brief else describe)(node, depth)))
        return
    if options.what == "node":
        print(json.dumps(describe(descend(root, options.path), 0)))
        return
    began = time.monotonic()
    count = 0
    for node, _ in walk(root):
        node.name, node.getRole(), node.getState(), extents(node)
        count += 1
    took = time.monotonic() - began
    print(json.dumps({"nodes": count, "seconds": took, "nodes_per_second": count / took}))


if __name__ == "__main__":
    main()
