"""A window of GTK 3 or 4 with one control of each kind, which writes down what happens to them.

gtk_form.py VERSION LOG: a line of JSON for each event; the text of the page goes to LOG.text as it is now.
"""
import json
import sys

import gi

VERSION, LOG = sys.argv[1:3]
gi.require_version("Gtk", VERSION)
from gi.repository import GLib, Gtk  # noqa: E402

IS_GTK4 = VERSION.startswith("4")


def log(**event):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(event) + "\n")


def keep_text(buffer):
    text = buffer.get_text(*buffer.get_bounds(), False)
    with open(LOG + ".text", "w", encoding="utf-8") as out:
        out.write(text)


def build():
    window = Gtk.Window(title=f"Form {VERSION}")
    window.set_default_size(500, 400)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    press = Gtk.Button(label="Press me")
    press.connect("clicked", lambda _: log(pressed=True))
    agree = Gtk.CheckButton(label="Agree")
    agree.connect("toggled", lambda it: log(agree=it.get_active()))
    power = Gtk.Switch()
    power.connect("notify::active", lambda it, _: log(power=it.get_active()))
    stay = Gtk.ToggleButton(label="Stay down")
    stay.connect("toggled", lambda it: log(stay=it.get_active()))
    field = Gtk.Entry()
    field.connect("changed", lambda it: log(field=it.get_text()))
    page = Gtk.TextView()
    page.set_vexpand(True)
    page.get_buffer().connect("changed", keep_text)
    later = Gtk.Button(label="Later")
    later.set_sensitive(False)
    later.connect("clicked", lambda _: log(later=True))
    press.connect("clicked", lambda _: GLib.timeout_add(400, later.set_sensitive, True))
    add = box.append if IS_GTK4 else box.add
    for widget in (press, agree, power, stay, field, page, later):
        add(widget)
    (window.set_child if IS_GTK4 else window.add)(box)
    loop = GLib.MainLoop()
    window.connect("close-request" if IS_GTK4 else "destroy", lambda *_: loop.quit())
    window.present() if IS_GTK4 else window.show_all()
    page.grab_focus()
    loop.run()


build()
