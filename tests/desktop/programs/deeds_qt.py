"""A window of Qt 5 in which something can be deleted by a menu, a combo box, a radio group and a button.

deeds_qt.py LOG: a line of JSON for each deed.
"""
import json
import sys

from PyQt5 import QtWidgets

LOG = sys.argv[1]


def log(name):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps({"deed": name}) + "\n")


app = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QMainWindow()
window.setWindowTitle("Deeds Qt")
body = QtWidgets.QWidget()
box = QtWidgets.QVBoxLayout(body)
edit = window.menuBar().addMenu("&Edit")
for name in ("Copy", "&Delete"):
    edit.addAction(name, lambda name=name: log(name.strip("&")))
note = QtWidgets.QLineEdit()
plan = QtWidgets.QComboBox()
plan.addItems(["Keep", "Delete plan", "Hide"])
plan.currentTextChanged.connect(log)
keep, delete = QtWidgets.QRadioButton("Keep all"), QtWidgets.QRadioButton("Delete all")
keep.setChecked(True)
delete.toggled.connect(lambda on: on and log("Delete all"))
archive = QtWidgets.QPushButton("Archive")


def on_archive():
    log(archive.text())
    archive.setText("Delete for ever")


archive.clicked.connect(on_archive)
wipe = QtWidgets.QCheckBox("&Wipe: delete traces")
wipe.toggled.connect(lambda on: log("Delete traces"))
label, labelled = QtWidgets.QLabel("&Tidy up"), QtWidgets.QPushButton("Delete files")
labelled.clicked.connect(lambda: log("Delete files"))
label.setBuddy(labelled)
for widget in (note, plan, keep, delete, archive, wipe, label, labelled):
    box.addWidget(widget)
window.setCentralWidget(body)
window.resize(500, 400)
window.show()
note.setFocus()
app.exec_()
