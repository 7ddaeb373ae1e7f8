"""What a program's answers cost the program itself, which no client can be quicker than: each kind of question that a first
look puts, asked all at once over a line of its own, by the clock and by the program's CPU time.

look_floor.py PID [ROWS COLUMNS]    a program with ATK's bridge, such as LibreOffice; so many cells of its first table
"""
import os
import sys
import time

import gi  # python3-gi, so run it with /usr/bin/python3

from gi.repository import Gio, GLib

ROOT = "/org/a11y/atspi/accessible/root"
ACCESSIBLE, TABLE, TEXT = (f"org.a11y.atspi.{name}" for name in ("Accessible", "Table", "Text"))
MENU_ROLES = {8, 33, 35, 45}  # check, menu, menu item, radio
TABLE_ROLE, SHOWING = 55, 25
MOST_LEVELS = 64

pid = int(sys.argv[1])
rows, columns = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (40, 20)


def line_to(flags, address):
    return Gio.DBusConnection.new_for_address_sync(address, flags, None, None)


def ask(line, name, path, interface, member, args=None):
    return line.call_sync(name, path, interface, member, args, None, 0, 5000, None).unpack()


def find_program():
    session = Gio.bus_get_sync(Gio.BusType.SESSION)
    client = Gio.DBusConnectionFlags.AUTHENTICATION_CLIENT
    address = ask(session, "org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress")[0]
    bus = line_to(client | Gio.DBusConnectionFlags.MESSAGE_BUS_CONNECTION, address)
    daemon = "org.freedesktop.DBus"
    for name, _ in ask(bus, "org.a11y.atspi.Registry", ROOT, ACCESSIBLE, "GetChildren")[0]:
        who = GLib.Variant("(s)", (name,))
        if ask(bus, daemon, "/org/freedesktop/DBus", daemon, "GetConnectionUnixProcessID", who)[0] == pid:
            own = ask(bus, name, ROOT, "org.a11y.atspi.Application", "GetApplicationBusAddress")[0]
            return line_to(client, own)
    sys.exit(f"nobody on the accessibility bus is the process {pid}")


line = find_program()
loop = GLib.MainLoop()


def cpu_time():
    threads = os.listdir(f"/proc/{pid}/task")
    return sum(int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0]) for thread in threads) / 1e6


def ask_all(calls):
    answers, left = [None] * len(calls), [len(calls)]

    def take(source, result, place):
        try:
            answers[place] = source.call_finish(result).unpack()
        except GLib.Error:
            pass
        left[0] -= 1
        if not left[0]:
            loop.quit()

    for place, (path, interface, member, args) in enumerate(calls):
        line.call(None, path, interface, member, args, None, 0, -1, None, take, place)
    if calls:
        loop.run()
    return answers


def measured(label, count, work):
    began, spent = time.monotonic(), cpu_time()
    answer = work()
    took, spent = (time.monotonic() - began) * 1e3, cpu_time() - spent
    count = count if count is not None else answer
    print(f"{label:34} {count:5} asked, {took:7.1f} ms, of the program's time {spent:6.1f} ms", flush=True)
    return answer


def put(label, calls):
    return measured(label, len(calls), lambda: ask_all(calls))


def get(path, interface, name):
    return (path, "org.freedesktop.DBus.Properties", "Get", GLib.Variant("(ss)", (interface, name)))


def walk():
    """Everything level by level, as without a list of all objects. Tables are not entered."""
    level, seen, asked = [ROOT], {ROOT}, 0
    for _ in range(MOST_LEVELS):
        calls = [call for path in level for call in (
            get(path, ACCESSIBLE, "Name"), (path, ACCESSIBLE, "GetRole", None), (path, ACCESSIBLE, "GetState", None))]
        roles = ask_all(calls)[1::3]
        lists = [(path, ACCESSIBLE, "GetChildren", None) for path, role in zip(level, roles) if role != (TABLE_ROLE,)]
        children = {child for answer in ask_all(lists) if answer for _, child in answer[0]} - seen
        asked += len(calls) + len(lists)
        seen |= children
        level = list(children)
        if not level:
            break
    return asked


def main():
    items = put("all objects (GetItems)", [("/org/a11y/atspi/cache", "org.a11y.atspi.Cache", "GetItems", None)])[0][0]
    # Object, application, parent, place, children, interfaces, name, role, description, states.
    known = [(item[0][1], item[7], item[9]) for item in items]
    print(f"{'':34} {len(known):5} objects")
    menus = [path for path, role, _ in known if role in MENU_ROLES]
    shown = [path for path, _, states in known if states and states[0] >> SHOWING & 1]
    number = GLib.Variant("(i)", (0,))
    put("shortcuts of menu entries", [(path, "org.a11y.atspi.Action", "GetKeyBinding", number) for path in menus])
    on_screen = GLib.Variant("(u)", (0,))
    put("places of what shows", [(path, "org.a11y.atspi.Component", "GetExtents", on_screen) for path in shown])
    for table in [path for path, role, _ in known if role == TABLE_ROLE][:1]:
        places = [(row, column) for row in range(rows) for column in range(columns)]
        cells = put("cells", [(table, TABLE, "GetAccessibleAt", GLib.Variant("(ii)", place)) for place in places])
        cells = [answer[0][1] for answer in cells if answer]
        put("lengths of their texts", [get(cell, TEXT, "CharacterCount") for cell in cells])
        put("their states", [(cell, ACCESSIBLE, "GetState", None) for cell in cells])
    measured("a walk instead of the list", None, walk)


main()
