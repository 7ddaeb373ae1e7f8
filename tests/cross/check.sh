#!/usr/bin/env bash
# What can be checked of the other systems on this machine:
#
#     tests/cross/check.sh lint CACHE         types and lints for Windows and macOS
#     tests/cross/check.sh wine CACHE         the Windows program, built and worked under Wine
#
# The toolchain, the builds and Wine's prefix are kept in CACHE. Nothing is installed; test.sh does that.
set -euo pipefail

here="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
project="$(cd -- "$here/../.." && pwd)"
windows=x86_64-pc-windows-gnu
targets=("$windows" aarch64-apple-darwin)

main() {
    cache="$(mkdir -p "$2" && cd -- "$2" && pwd)"
    "$here/toolchain.sh" "$cache/cross"
    # shellcheck source=/dev/null
    source "$cache/cross/environment"
    export CARGO_TARGET_DIR="$cache/cross-target"
    # Nobody debugs these builds, and what debuggers want is most of their bytes.
    export CARGO_PROFILE_DEV_DEBUG=0
    # Nothing can be linked for macOS here, so its C may stay uncompiled.
    export CC_aarch64_apple_darwin="$here/no_compiler.sh" AR_aarch64_apple_darwin=ar SDKROOT="$cache/cross"
    cd "$project"
    "$1_all"
}

# Cargo looks for its subcommands in its own folder first, where another toolchain's clippy may be: this one is called
# by its name.
lint_all() {
    # In one go, so that the one fills the gaps of the other.
    cargo-clippy clippy --locked --workspace --all-targets "${targets[@]/#/--target=}" -- -D warnings
    echo "${#targets[@]} passed, 0 failed"
}

wine_all() {
    local built="$CARGO_TARGET_DIR/$windows/debug" tools="$cache/wine"
    cargo build --locked --target "$windows"
    mkdir -p "$tools"
    x86_64-w64-mingw32-gcc -O1 -municode -mwindows -o "$tools/window.exe" "$here/window.c"
    x86_64-w64-mingw32-gcc -O1 -shared -o "$tools/bcryptprimitives.dll" "$here/processprng.c" -ladvapi32
    # A namespace of its own for processes: whatever Wine leaves running ends with the first of them.
    unshare --fork --pid --mount-proc --kill-child "$here/wine.sh" "$tools" "$built/os-screen-observer.exe"
}

case "$#:${1:-}" in
    2:lint | 2:wine) main "$@" ;;
    *)
        echo "usage: check.sh lint|wine CACHE" >&2
        exit 2
        ;;
esac
