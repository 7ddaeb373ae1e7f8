"""A window of GTK 3 or 4 that asks for a name and a password, and writes down each that it gets.

gtk_login.py VERSION LOG: a line of JSON for each change of the password.
"""
import json
import sys

import gi

VERSION, LOG = sys.argv[1:3]
gi.require_version("Gtk", VERSION)
from gi.repository import GLib, Gtk  # noqa: E402

IS_GTK4 = VERSION.startswith("4")


def log(password):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(password) + "\n")


def called(widget, name):
    if IS_GTK4:
        widget.update_property([Gtk.AccessibleProperty.LABEL], [name])
    else:
        widget.get_accessible().set_name(name)
    return widget


def build():
    window = Gtk.Window(title=f"Login {VERSION}")
    window.set_default_size(400, 200)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    name = called(Gtk.Entry(), "Name")
    if IS_GTK4:
        password = Gtk.PasswordEntry()
    else:
        password = Gtk.Entry()
        password.set_visibility(False)
        password.set_input_purpose(Gtk.InputPurpose.PASSWORD)
    called(password, "Password").connect("changed", lambda it: log(it.get_text()))
    for widget in (name, password):
        (box.append if IS_GTK4 else box.add)(widget)
    (window.set_child if IS_GTK4 else window.add)(box)
    loop = GLib.MainLoop()
    window.connect("close-request" if IS_GTK4 else "destroy", lambda *_: loop.quit())
    window.present() if IS_GTK4 else window.show_all()
    loop.run()


build()
