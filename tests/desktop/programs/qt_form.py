"""A window of Qt 5 with a page, a list, a button that stays down and a password, which writes down what happens to them.

qt_form.py LOG: a line of JSON for each event; the text of the page goes to LOG.text as it is now.
"""
import json
import sys

from PyQt5 import QtWidgets

LOG = sys.argv[1]


def log(**event):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(event) + "\n")


def keep_text(text):
    with open(LOG + ".text", "w", encoding="utf-8") as out:
        out.write(text)


def save_dialog(window):
    log(dialog=True)
    QtWidgets.QInputDialog.getText(window, "Save", "File name")


app = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QMainWindow()
window.setWindowTitle("Form Qt")
body = QtWidgets.QWidget()
box = QtWidgets.QVBoxLayout(body)
page = QtWidgets.QPlainTextEdit()
page.textChanged.connect(lambda: keep_text(page.toPlainText()))
eye = QtWidgets.QPushButton("Eye")
eye.setCheckable(True)
eye.clicked.connect(lambda checked: log(eye=checked))
rows = QtWidgets.QListWidget()
rows.addItems(["First", "Second", "Third"])
rows.setSelectionMode(QtWidgets.QAbstractItemView.ExtendedSelection)
rows.itemSelectionChanged.connect(lambda: log(rows=sorted(item.text() for item in rows.selectedItems())))
secret = QtWidgets.QLineEdit()
secret.setEchoMode(QtWidgets.QLineEdit.Password)
secret.setAccessibleName("Password")
secret.textChanged.connect(lambda text: log(secret=text))
for widget in (page, eye, rows, secret):
    box.addWidget(widget)
window.setCentralWidget(body)
save = QtWidgets.QAction("Save", window)
save.setShortcut("Ctrl+S")
save.triggered.connect(lambda: save_dialog(window))
window.addAction(save)
window.resize(500, 500)
window.show()
page.setFocus()
app.exec_()
