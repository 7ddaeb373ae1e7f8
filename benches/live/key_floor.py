"""How long a program takes by itself from a key to its word of it, which no client can be quicker than. One line a round:
milliseconds to the event that a text changed, to the one that the focus did, and to the last one before half a second of
silence, and how many events there were.

key_floor.py [ROUNDS] [ESCAPE]    types `a` into whatever has the keyboard, with escape before each round if asked for
"""
import ctypes
import statistics
import sys
import time

import gi  # python3-gi, so run it with /usr/bin/python3

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib

KINDS = ["object:text-changed", "object:state-changed", "object:children-changed", "object:property-change"]
SILENCE = 0.5
MOST = 4.0

x11, xtst = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XKeysymToKeycode.argtypes = [ctypes.c_void_p, ctypes.c_ulong]
for function in (x11.XFlush, x11.XSync):
    function.argtypes = [ctypes.c_void_p] + ([ctypes.c_int] if function is x11.XSync else [])
xtst.XTestFakeKeyEvent.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_int, ctypes.c_ulong]
display = x11.XOpenDisplay(None)
heard = []


def press(keysym):
    code = x11.XKeysymToKeycode(display, keysym)
    for down in (1, 0):
        xtst.XTestFakeKeyEvent(display, code, down, 0)
    x11.XFlush(display)


def hear(event):
    heard.append((time.monotonic(), event.type))


def wait_for_silence(began):
    context = GLib.MainContext.default()
    while True:
        while context.iteration(False):
            pass
        now = time.monotonic()
        last = heard[-1][0] if heard else began
        if now - last > SILENCE or now - began > MOST:
            return
        time.sleep(0.0005)


def first_of(kind, began):
    at = next((at for at, told in heard if told.startswith(kind)), None)
    return float("nan") if at is None else (at - began) * 1e3


def middle(times):
    told = [time for time in times if time == time]
    return statistics.median(told) if told else float("nan")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    listener = Atspi.EventListener.new(hear)
    for kind in KINDS:
        listener.register(kind)
    texts, focuses = [], []
    for _ in range(rounds):
        if len(sys.argv) > 2:
            press(0xFF1B)
        wait_for_silence(time.monotonic())
        heard.clear()
        began = time.monotonic()
        press(ord("a"))
        wait_for_silence(began)
        to_text = first_of("object:text-changed", began)
        to_focus = first_of("object:state-changed:focused", began)
        texts.append(to_text)
        focuses.append(to_focus)
        last = (heard[-1][0] - began) * 1e3 if heard else 0
        print(f"text {to_text:.1f} focus {to_focus:.1f} last {last:.1f} events {len(heard)}", flush=True)
    print(f"median: text {middle(texts):.1f} ms, focus {middle(focuses):.1f} ms")


main()
