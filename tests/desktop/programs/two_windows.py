"""A dialog that has the focus, and the main window of the same program, which does not take it."""
import gi

gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

tip = Gtk.Window(title="Tip of the day")
tip.add(Gtk.Entry())
tip.show_all()


def open_main():
    main = Gtk.Window(title="Main")
    main.set_focus_on_map(False)
    main.set_default_size(300, 200)
    main.add(Gtk.Entry())
    main.show_all()


GLib.timeout_add(1500, open_main)
Gtk.main()
