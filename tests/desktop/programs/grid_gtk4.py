"""A grid and a table of GTK 4, and what is selected in the grid."""
import gi

gi.require_version("Gtk", "4.0")
from gi.repository import Gtk  # noqa: E402

NAMES = ["Apple", "Banana", "Cherry", "Date"]


def factory(before=""):
    made = Gtk.SignalListItemFactory()
    made.connect("setup", lambda _, item: item.set_child(Gtk.Label()))
    made.connect("bind", lambda _, item: item.get_child().set_label(before + item.get_item().get_string()))
    return made


def build(app):
    window = Gtk.ApplicationWindow(application=app, title="Grid")
    window.set_default_size(500, 500)
    chosen = Gtk.SingleSelection(model=Gtk.StringList.new(NAMES))
    grid = Gtk.GridView(model=chosen, factory=factory())
    table = Gtk.ColumnView(model=Gtk.SingleSelection(model=Gtk.StringList.new(NAMES)))
    for title in ("Name", "Price"):
        table.append_column(Gtk.ColumnViewColumn(title=title, factory=factory(title + " ")))
    said = Gtk.Label(label="Apple is chosen")
    chosen.connect("notify::selected", lambda it, _: said.set_label(f"{NAMES[it.get_selected()]} is chosen"))
    box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
    box.append(said)
    for view in (grid, table):
        scroll = Gtk.ScrolledWindow(vexpand=True)
        scroll.set_child(view)
        box.append(scroll)
    window.set_child(box)
    window.present()


app = Gtk.Application()
app.connect("activate", build)
app.run()
