#!/usr/bin/env bash
# Makes a Rust toolchain that can check for Windows and macOS, and build for Windows, out of Debian's own packages:
#
#     tests/cross/toolchain.sh FOLDER        fetches 149 MB, takes some minutes, once
#     source FOLDER/environment              puts it first in PATH; clippy is `cargo-clippy clippy` then
#
# The compiler, clippy and the standard library's source come from one version of Debian's `rustc-web`; the standard
# library is then built from that source for each target and laid into the toolchain's own sysroot. Nothing of it
# touches rustup or the system. The mark `ready` is written last, so that a set-up that broke is made anew.
set -euo pipefail

targets=(x86_64-pc-windows-gnu aarch64-apple-darwin)
# What the packages' programs are linked to, beyond what every system has.
wanted=(rustc-web cargo-web rust-web-clippy rust-web-src libstd-rust-web-dev)
libraries='^(libstd-rust-web-|libllvm|libgit2-|libmbed|libhttp-parser|libssh2-|libsqlite3-0)'

main() {
    mkdir -p "$1"
    folder="$(cd -- "$1" && pwd)"
    version="$(candidate rustc-web)"
    [ -n "$version" ] || fail "Debian's package rustc-web is not known here; run apt-get update"
    [ "$(cat "$folder/ready" 2>/dev/null)" != "$version" ] || return 0
    rm -rf "${folder:?}"/{ready,debs,root,std}
    mkdir -p "$folder"/{debs,root,std}
    fetch
    write_environment
    # shellcheck source=/dev/null
    source "$folder/environment"
    build_standard_library
    rm -rf "${folder:?}"/{debs,std}
    echo "$version" >"$folder/ready"
}

fail() {
    echo "toolchain.sh: $*" >&2
    exit 1
}

candidate() {
    apt-cache policy "$1" | sed -n 's/^ *Candidate: //p' | grep -v none
}

# The names of the libraries carry versions that move with Debian's updates, so they are looked up.
fetch() {
    local packages
    packages="$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
        --no-enhances "${wanted[@]}" | grep -E "$libraries" | sort -u)"
    # shellcheck disable=SC2086
    (cd "$folder/debs" && apt-get download -qq "${wanted[@]}" $packages)
    local package
    for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder/root"; done
}

write_environment() {
    cat >"$folder/environment" <<END
export PATH="$folder/root/usr/bin:/usr/local/bin:/usr/bin:/bin"
export LD_LIBRARY_PATH="$folder/root/usr/lib/x86_64-linux-gnu"
unset RUSTUP_TOOLCHAIN RUSTC CARGO RUSTC_WRAPPER
END
}

# An empty program is built with a standard library from source; what that leaves is the library. It is built, not
# only checked, for Windows, where programs are linked too; without an SDK nothing can be linked for macOS.
build_standard_library() {
    cd "$folder/std"
    mkdir -p src
    echo 'fn main() {}' >src/main.rs
    # A workspace of its own: the folder may lie in that of this project, whose target folder would be used then.
    printf '[package]\nname = "seed"\nversion = "0.1.0"\nedition = "2021"\n\n[workspace]\n' >Cargo.toml
    local target verb kept
    for target in "${targets[@]}"; do
        case $target in *windows*) verb=build ;; *) verb=check ;; esac
        RUSTC_BOOTSTRAP=1 cargo "$verb" -q --release -Z build-std=std,panic_unwind,panic_abort,proc_macro,test --target "$target"
        kept="$folder/root/usr/lib/rustlib/$target/lib"
        mkdir -p "$kept"
        find "target/$target/release/deps" \( -name '*.rlib' -o -name '*.rmeta' \) ! -name 'libseed*' -exec cp {} "$kept/" \;
    done
}

[ $# -eq 1 ] || fail "usage: toolchain.sh FOLDER"
main "$1"
