#!/usr/bin/env bash
# Makes a release of the program, with everything that says what is in it, and checks it first.
#
#     ./release.sh                        checks, builds, lists the parts, writes checksums; all into dist/
#     ./release.sh --twice                builds a second time in another folder and compares every byte
#     ./release.sh --without-advisories   makes one although known vulnerabilities could not be looked up, and says so
#
# What is checked: the rules of deny.toml (bans, licences, sources) and, by cargo-deny and cargo-audit, the database of
# known vulnerabilities. Where that database cannot be reached there is no release, unless the last flag is given.
#
# OSO_CACHE                where the tools are kept (default: .cache in the project, which git ignores)
# OSO_RELEASE_FEATURES     which features are built in (default: default, which is http)
# SOURCE_DATE_EPOCH        the date of everything that is dated (default: that of the last commit)
set -euo pipefail

cargo_deny=0.20.2
cargo_audit=0.22.2
cargo_cyclonedx=0.5.9

project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
cd "$project"
mkdir -p "${OSO_CACHE:-.cache}"
cache="$(cd -- "${OSO_CACHE:-.cache}" && pwd)"
features="${OSO_RELEASE_FEATURES:-default}"
unset OSO_CACHE OSO_RELEASE_FEATURES
cargo_tools="$cache/release-tools-$cargo_deny-$cargo_audit-$cargo_cyclonedx"
export PATH="$cargo_tools/bin:$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin"
dist="$project/dist"
name=os-screen-observer
twice=no
need_advisories=yes
advisories="looked up"

main() {
    local flag
    for flag in "$@"; do
        case $flag in
            --twice) twice=yes ;;
            --without-advisories) need_advisories=no ;;
            *)
                sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$project/release.sh"
                [ "$flag" = --help ]
                return
                ;;
        esac
    done
    say "tools"
    cargo_tool cargo-deny "$cargo_deny"
    cargo_tool cargo-audit "$cargo_audit" --no-default-features
    cargo_tool cargo-cyclonedx "$cargo_cyclonedx"
    say "rules for dependencies"
    cargo deny --locked check bans licenses sources
    say "known vulnerabilities"
    look_up_advisories
    say "build"
    rm -rf "$dist"
    mkdir -p "$dist"
    export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
    build "$project" "$cache/release-build" "$dist/$name"
    if [ "$twice" = yes ]; then
        say "the same again, elsewhere"
        build_again_elsewhere
    fi
    say "list of parts"
    list_parts
    say "what was done"
    write_account
    (cd "$dist" && sha256sum -- * >SHA256SUMS && cat BUILD.txt SHA256SUMS)
}

say() {
    printf '\n== %s ==\n' "$1"
}

# cargo_tool NAME VERSION FLAG...: unoptimised is quick enough for a tool that runs once.
cargo_tool() {
    local tool="$1" version="$2"
    shift 2
    [ -x "$cargo_tools/bin/$tool" ] && return
    echo "Building $tool $version into the cache; this takes some minutes, once."
    cargo install --debug --quiet --locked --root "$cargo_tools" "$@" "$tool@$version"
}

# Both tools read the same database, each in its own way: cargo-deny holds it to deny.toml, cargo-audit to Cargo.lock.
look_up_advisories() {
    export GIT_TERMINAL_PROMPT=0
    if timeout 300 cargo deny --locked fetch db; then
        cargo deny --locked check advisories
        cargo audit
        return
    fi
    echo "The database of known vulnerabilities could not be fetched."
    if [ "$need_advisories" = yes ]; then
        echo "There is no release without it; --without-advisories makes one that says so."
        return 1
    fi
    advisories="NOT LOOKED UP: the database of known vulnerabilities could not be fetched"
}

# build FOLDER TARGET RESULT: no path of this machine is in what comes out, and no date but SOURCE_DATE_EPOCH.
build() {
    local folder="$1" target="$2" result="$3" cargo_home
    cargo_home="${CARGO_HOME:-$HOME/.cargo}"
    (
        cd "$folder"
        export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0 TZ=UTC LC_ALL=C
        export RUSTFLAGS="--remap-path-prefix=$folder=/project --remap-path-prefix=$cargo_home=/cargo"
        # The part of the TLS library that is written in C and assembly.
        export CFLAGS="-ffile-prefix-map=$cargo_home=/cargo -ffile-prefix-map=$target=/target"
        cargo build --release --locked --features "$features" --bin "$name"
    )
    cp "$target/release/$name" "$result"
}

# From what git has, so that a file that was forgotten is missed here.
build_again_elsewhere() {
    # Not local: it is taken away when the script ends, however it ends.
    elsewhere="$(mktemp -d)"
    trap 'rm -rf "$elsewhere"' EXIT
    mkdir "$elsewhere/another-name"
    git archive HEAD | tar -x -C "$elsewhere/another-name"
    build "$elsewhere/another-name" "$elsewhere/target" "$elsewhere/$name"
    if ! cmp "$dist/$name" "$elsewhere/$name"; then
        echo "The two builds differ."
        return 1
    fi
    echo "The two builds are the same, byte for byte."
    again="a second build in another folder is the same, byte for byte"
}

# CycloneDX, of exactly the crates that are built in; cargo-cyclonedx writes beside Cargo.toml.
list_parts() {
    local target
    target="$(rustc -vV | sed -n 's/^host: //p')"
    cargo cyclonedx --quiet --format json --spec-version 1.5 --features "$features" --target "$target" \
        --override-filename "$name.cdx"
    mv "$name.cdx.json" "$dist/$name.cdx.json"
    echo "$(grep -c '"purl": "pkg:cargo/' "$dist/$name.cdx.json") crates are listed in $name.cdx.json."
}

write_account() {
    local changes
    changes="$(git status --porcelain | wc -l)"
    {
        echo "$name $(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
        echo "commit: $(git rev-parse HEAD)"
        [ "$changes" -eq 0 ] || echo "WARNING: $changes files differ from that commit"
        echo "features: $features"
        echo "SOURCE_DATE_EPOCH: $SOURCE_DATE_EPOCH"
        echo "paths: the project is /project, the registry of cargo is /cargo"
        echo "profile: $(env | sed -n 's/^CARGO_PROFILE_RELEASE_//p' | sort | paste -sd' ' -)"
        rustc -vV
        cargo --version
        echo "advisories: $advisories"
        echo "reproduced: ${again:-not tried}"
    } >"$dist/BUILD.txt"
}

main "$@"
