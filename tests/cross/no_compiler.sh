#!/bin/sh
# Stands in for a C compiler where nothing will be linked: crates that compile C for macOS (ring) want one even to be
# checked, and without Apple's SDK there is none. It makes an empty object of the name that it is asked for; questions
# about itself (-E) go to the real compiler.
case " $* " in
    *" -E "*) exec cc "$@" ;;
    *" -? "*) exit 1 ;;
esac
out=
while [ $# -gt 0 ]; do
    case "$1" in -o) out="$2" && shift ;; esac
    shift
done
[ -z "$out" ] || exec cc -x c -c /dev/null -o "$out"
