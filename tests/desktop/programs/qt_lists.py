"""A window of Qt 5 with a field that offers words while one types, and a combo box."""
import sys

from PyQt5 import QtWidgets

application = QtWidgets.QApplication(sys.argv)
window = QtWidgets.QWidget()
window.setWindowTitle("Lists")
layout = QtWidgets.QVBoxLayout(window)
field = QtWidgets.QLineEdit()
field.setCompleter(QtWidgets.QCompleter(["sine", "sinh", "size"]))
layout.addWidget(field)
combo = QtWidgets.QComboBox()
combo.addItems(["Text", "Binary", "Image"])
layout.addWidget(combo)
window.show()
field.setFocus()
sys.exit(application.exec_())
