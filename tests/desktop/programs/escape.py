"""Tries to get out of a private desktop, writes down what it reached, and shows a window.

    escape.py RESULT SECRET_FILE LISTENING_PORT SOCKET_FILE ABSTRACT_NAME OTHER_DISPLAY SERVER_PID
"""

import json
import os
import socket
import sys

result, secret, port, socket_file, abstract, display, server = sys.argv[1:]


def reached(attempt):
    try:
        attempt()
        return True
    except OSError:
        return False


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as it:
        it.settimeout(5)
        it.connect(address)


def write(path):
    with open(path, "w") as file:
        file.write("x")


def network():
    # A datagram socket sends nothing by being connected, but needs a way to the address.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as it:
        it.connect(("192.0.2.1", 9))


def told_by_processes(name):
    texts = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            texts.append(open(f"/proc/{number}/{name}", errors="replace").read())
        except OSError:
            pass
    return " ".join(texts)


def others():
    if "--sandbox" not in told_by_processes("cmdline"):
        raise OSError("no server is seen")


def environments():
    # Somebody inside may have inherited what the server was started with.
    if "S3NT1NEL" not in told_by_processes("environ"):
        raise OSError("no secret is seen")


X = f"/tmp/.X11-unix/X{display}"
told = {
    "file": reached(lambda: open(secret).read()),
    "folder": reached(lambda: os.listdir(os.path.dirname(secret))),
    "home": reached(lambda: os.listdir("/root")) or reached(lambda: os.listdir("/home")),
    "system": reached(lambda: write("/usr/escaped")) or reached(lambda: write("/etc/escaped")),
    "loopback": reached(lambda: connect(socket.AF_INET, ("127.0.0.1", int(port)))),
    "network": reached(network),
    "socket": reached(lambda: connect(socket.AF_UNIX, socket_file)),
    "abstract": reached(lambda: connect(socket.AF_UNIX, "\0" + abstract)),
    "display": reached(lambda: connect(socket.AF_UNIX, X)),
    "abstract_display": reached(lambda: connect(socket.AF_UNIX, "\0" + X)),
    "processes": reached(others),
    "environments": reached(environments),
    "signal": reached(lambda: os.kill(int(server), 0)),
    "system_bus": reached(lambda: connect(socket.AF_UNIX, "/run/dbus/system_bus_socket")),
    "own_home": reached(lambda: write(os.path.expanduser("~/mine"))),
    "own_display": reached(lambda: connect(socket.AF_UNIX, "/tmp/.X11-unix/X" + os.environ["DISPLAY"][1:])),
    "own_tmp": reached(lambda: write("/tmp/mine")),
}
with open(os.path.expanduser("~/" + result), "w") as file:
    json.dump(told, file)
os.execvp("zenity", ["zenity", "--info", "--title=Escaped", "--text=inside the wall"])
