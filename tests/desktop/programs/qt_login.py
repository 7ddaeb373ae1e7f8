"""A window of Qt 5 that asks for a name and a password, and writes down each that it gets.

qt_login.py LOG: a line of JSON for each change of the password.
"""
import json
import sys

from PyQt5 import QtWidgets

LOG = sys.argv[1]


def log(password):
    with open(LOG, "a", encoding="utf-8") as out:
        out.write(json.dumps(password) + "\n")


app = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QWidget()
window.setWindowTitle("Login Qt")
box = QtWidgets.QVBoxLayout(window)
name, password = QtWidgets.QLineEdit(), QtWidgets.QLineEdit()
name.setAccessibleName("Name")
password.setAccessibleName("Password")
password.setEchoMode(QtWidgets.QLineEdit.Password)
password.textChanged.connect(log)
for widget in (name, password):
    box.addWidget(widget)
window.resize(400, 200)
window.show()
app.exec_()
