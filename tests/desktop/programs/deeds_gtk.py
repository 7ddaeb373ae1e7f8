"""A window of GTK 3 or 4 in which something can be deleted by a menu, a combo box, a radio group and a button.

deeds_gtk.py VERSION LOG: a line of JSON for each deed.
"""
import json
import sys

import gi

VERSION, LOG = sys.argv[1:3]
gi.require_version("Gtk", VERSION)
from gi.repository import GLib, Gio, Gtk  # noqa: E402

IS_GTK4 = VERSION.startswith("4")


def log(**event):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(event) + "\n")


def menu_bar(on_deed):
    """Edit > Copy, Delete, by the means of each version."""
    if IS_GTK4:
        model, edit = Gio.Menu(), Gio.Menu()
        edit.append("Copy", "win.copy")
        edit.append("Delete", "win.delete")
        model.append_submenu("Edit", edit)
        return Gtk.PopoverMenuBar.new_from_model(model)
    bar, menu = Gtk.MenuBar(), Gtk.Menu()
    for name in ("Copy", "_Delete"):
        entry = Gtk.MenuItem.new_with_mnemonic(name)
        entry.connect("activate", lambda it: on_deed(it.get_label().strip("_")))
        menu.append(entry)
    edit = Gtk.MenuItem.new_with_mnemonic("_Edit")
    edit.set_submenu(menu)
    bar.append(edit)
    return bar


def combo(on_deed):
    names = ["Keep", "Delete plan", "Hide"]
    if IS_GTK4:
        box = Gtk.DropDown.new_from_strings(names)
        box.connect("notify::selected", lambda it, _: on_deed(names[it.get_selected()]))
    else:
        box = Gtk.ComboBoxText()
        for name in names:
            box.append_text(name)
        box.set_active(0)
        box.connect("changed", lambda it: on_deed(it.get_active_text()))
    return box


def radios(on_deed):
    keep = Gtk.CheckButton(label="Keep all") if IS_GTK4 else Gtk.RadioButton(label="Keep all")
    if IS_GTK4:
        delete = Gtk.CheckButton(label="Delete all")
        delete.set_group(keep)
    else:
        delete = Gtk.RadioButton.new_with_label_from_widget(keep, "Delete all")
    keep.set_active(True)
    delete.connect("toggled", lambda it: on_deed("Delete all") if it.get_active() else None)
    return keep, delete


def build():
    def on_deed(name):
        log(deed=name)

    window = Gtk.ApplicationWindow() if IS_GTK4 else Gtk.Window()
    window.set_title(f"Deeds {VERSION}")
    window.set_default_size(500, 400)
    for name in ("copy", "delete") if IS_GTK4 else ():
        action = Gio.SimpleAction.new(name, None)
        action.connect("activate", lambda it, _: on_deed(it.get_name().capitalize()))
        window.add_action(action)
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    archive = Gtk.Button(label="Archive")

    def on_archive(it):
        on_deed(it.get_label())
        it.set_label("Delete for ever")

    archive.connect("clicked", on_archive)
    keep, delete = radios(on_deed)
    note = Gtk.Entry()
    if not IS_GTK4:
        archive.set_can_default(True)
        note.set_activates_default(True)
    rows = [Gtk.Label(label=f"Row {number}") for number in range(280)]
    add = box.append if IS_GTK4 else box.add
    for widget in (menu_bar(on_deed), note, combo(on_deed), keep, delete, archive):
        add(widget)
    if not IS_GTK4:
        wipe = Gtk.CheckButton.new_with_mnemonic("_Wipe: delete traces")
        wipe.connect("toggled", lambda it: on_deed("Delete traces"))
        add(wipe)
    scroll, lines = Gtk.ScrolledWindow(), Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    scroll.set_vexpand(True)
    for row in rows:
        (lines.append if IS_GTK4 else lines.add)(row)
    (scroll.set_child if IS_GTK4 else scroll.add)(lines)
    add(scroll)
    (window.set_child if IS_GTK4 else window.add)(box)
    loop = GLib.MainLoop()
    window.connect("close-request" if IS_GTK4 else "destroy", lambda *_: loop.quit())
    window.present() if IS_GTK4 else window.show_all()
    if not IS_GTK4:
        window.set_default(archive)
    note.grab_focus()
    loop.run()


build()
