#!/usr/bin/env bash
# Inside a namespace of its own: a display, a prefix, and the test in them. `wine.sh TOOLS PROGRAM`
set -euo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
tools="$1" program="$2"
export WINEPREFIX="$tools/prefix" WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml=" HOME="$tools/home"
# The program takes OSO_ variables for settings, and the libraries of the toolchain are for the compiler alone.
unset "${!OSO_@}" LD_LIBRARY_PATH
mkdir -p "$HOME"

# The server chooses a free number and writes it down when it is ready.
coproc screen { exec Xvfb -displayfd 1 -screen 0 1280x800x24 -nolisten tcp 2>/dev/null; }
read -r number <&"${screen[0]}"
export DISPLAY=":$number"
unset WAYLAND_DISPLAY XAUTHORITY

# The mark is written last, so that a prefix that broke is made anew.
if [ ! -e "$WINEPREFIX/ready" ]; then
    rm -rf "$WINEPREFIX"
    timeout 300 wineboot --init >/dev/null 2>&1
    timeout 60 wineserver --wait
    touch "$WINEPREFIX/ready"
fi
cp "$tools/bcryptprimitives.dll" "$WINEPREFIX/drive_c/windows/system32/"
timeout 900 python3 "$here/wine.py" "$program" "$tools/window.exe"
