#!/usr/bin/env bash
# Runs every test of the project, and installs what the tests need into a private cache.
#
#     ./test.sh            everything
#     ./test.sh --quick    formatting, lints and the cargo tests only, without a desktop
#
# Reading text needs tesseract, the feature `ocr` the headers of its library, and the feature `wayland` some more; all are
# installed where that needs no question. Without the libraries everything else is tested, and the summary says so.
#
# One unoptimised build serves all: the tests, the private desktops, and the clients.
#
# What works real programs depends on timing, and a busy machine may miss it once. A few failed tests are run once more,
# one at a time; those that pass then are listed as flaky at the end. A test that fails twice has failed.
#
# OSO_CACHE                where the tools are kept (default: .cache in the project, which git ignores)
# CI=true                  a test that cannot run here is a failure instead of a skip
# DESKTOP_RUNS             how often what depends on timing is tried on real programs (2 or 3 times by default)
# PROPTEST_RNG_SEED        another seed for the property tests (fixed by default, so that a run can be repeated)
set -uo pipefail

cargo_deny=0.20.2
cargo_machete=0.9.2
miniwob=1.1.0

# What a stage returns when it did not run: for want of a tool, or because the outside could not be reached.
missing_tool=77
unreachable=76

project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
cd "$project" || exit 1
clients="$project/tests/clients"
mkdir -p "${OSO_CACHE:-.cache}" || exit 1
cache="$(cd -- "${OSO_CACHE:-.cache}" && pwd)"
# The server takes OSO_ variables for settings and would warn about this one.
unset OSO_CACHE
# The versions are part of the name, so that a newer one is built when a number above changes.
cargo_tools="$cache/cargo-tools-$cargo_deny-$cargo_machete"

export PATH="$cargo_tools/bin:$PATH:${CARGO_HOME:-${HOME:-}/.cargo}/bin"
# What makes the next build quicker makes the first one slower.
[ "${CI:-}" != true ] || export CARGO_INCREMENTAL=0
export INSTA_UPDATE=no
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20260728}"
export PYTHONDONTWRITEBYTECODE=1

# More failures than this are not a matter of timing.
most_retried=5

summary=""
stages_failed=0
total_passed=0
total_failed=0

main() {
    case "${1:-}" in
        "" | --quick) ;;
        *)
            show_help "$1"
            return
            ;;
    esac
    if ! command -v cargo >/dev/null; then
        echo "test.sh: there is no cargo; ./start.sh says how to get a Rust toolchain." >&2
        return 1
    fi
    log="$(mktemp)" flaky="$(mktemp)"
    trap 'rm -f "$log" "$flaky"' EXIT

    stage "OCR: engine and library" ocr_packages
    stage "Wayland: libraries" wayland_packages
    stage "sockets: strace" socket_tracer
    stage "formatting" formatting
    stage "lints" lints
    stage "cargo tests" cargo_tests
    if [ "${1:-}" != --quick ]; then
        stage "desktop: real programs" desktop_tests
        stage "desktop: Wayland" wayland_tests
        stage "browser: pages" browser_tests
        stage "dependencies: bans, licences, sources" dependency_rules
        stage "dependencies: advisories" dependency_advisories
        stage "dependencies: unused" dependencies_unused
        stage "other systems: Windows and macOS" other_systems
        stage "other systems: Windows under Wine" retried windows_under_wine
        stage "server for the clients" client_server
        stage "manifests" manifests
        stage "client: requests of the original" retried requests_of_the_original
        stage "client: python mcp 2" python_client venv-mcp-2 requirements.txt python_client.py
        stage "client: python mcp 1" python_client venv-mcp-1 requirements-v1.txt python_client_v1.py
        stage "client: python mcp 2 in a browser" retried page_client
        stage "client: MCP Inspector" retried inspector_client
        stage "client: packages of ours" client_packages
        stage "HTTP: its OpenAPI document" openapi_document
        stage "HTTP: MCP conformance" retried conformance_suite
        stage "HTTP: load beside waits" retried load_beside_waits
        stage "HTTP: a dialog by curl" retried dialog_by_curl
        stage "browser: MiniWoB++" retried miniwob_tasks
        stage "jobs: planned by OpenCode" retried opencode_planner
        stage "inspector in a browser" retried page_in_browser
        stage "MCP App in a browser" retried app_in_browser
    fi
    show_summary
}

show_help() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$project/test.sh"
    [ "$1" = --help ]
}

# stage NAME COMMAND...: runs one stage under a heading and adds its counts to the summary.
stage() {
    local name="$1" status=0 started=$SECONDS
    shift
    printf '\n== %s ==\n' "$name"
    "$@" 2>&1 </dev/null | tee "$log"
    status=${PIPESTATUS[0]}
    count "$status"
    case $status in
        0) verdict="ok" ;;
        "$unreachable") verdict="NOT RUN" ;;
        "$missing_tool") verdict="SKIPPED" ;;
        *) verdict="FAILED" ;;
    esac
    if [ "$verdict" = SKIPPED ] && [ "${CI:-}" = true ]; then
        verdict="FAILED" failed=1
    fi
    [ "$verdict" != FAILED ] || stages_failed=$((stages_failed + 1))
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    line="$(printf '%-8s %4ss  %s: %s passed, %s failed' "$verdict" "$((SECONDS - started))" "$name" "$passed" "$failed")"
    summary="$summary$line"$'\n'
    printf -- '-- %s: %s passed, %s failed\n' "$name" "$passed" "$failed"
}

# count STATUS: sets `passed` and `failed` to what the tools of the stage have counted themselves. A stage whose
# tool does not count is one test; a stage that broke without a failed test has failed once all the same.
count() {
    read -r passed failed <<<"$(awk '
        { while (match($0, /[0-9]+ passed[;,] [0-9]+ failed/)) {
              split(substr($0, RSTART, RLENGTH), number, /[^0-9]+/)
              passed += number[1]; failed += number[2]
              $0 = substr($0, RSTART + RLENGTH) } }
        END { print passed + 0, failed + 0 }' "$log")"
    case $1 in
        # What failed at first has passed since.
        0) [ "$passed" -gt 0 ] || passed=1; failed=0 ;;
        "$missing_tool" | "$unreachable") passed=0 failed=0 ;;
        *) [ "$failed" -gt 0 ] || failed=1 ;;
    esac
}

show_summary() {
    printf '\n== summary ==\n%s' "$summary"
    [ ! -s "$flaky" ] || { echo "flaky (failed, and passed when it was run again):" && sed 's/^/    /' "$flaky"; }
    printf 'total: %s passed, %s failed\n' "$total_passed" "$total_failed"
    [ "$stages_failed" -eq 0 ]
}

# retried COMMAND...: a stage with programs of others, run once more if it fails.
retried() {
    local status=0
    "$@" || status=$?
    case $status in 0 | "$missing_tool" | "$unreachable") return "$status" ;; esac
    printf '\n-- %s failed with status %s; it is run once more --\n' "$1" "$status"
    "$@" && echo "$1" >>"$flaky"
}

# cargo_test ARGUMENT...: cargo test with every feature; a few failed tests are run once more, one at a time.
cargo_test() {
    local output status=0 name names=()
    output="$(mktemp)"
    with_features cargo test --locked --no-fail-fast "$@" 2>&1 | tee "$output"
    status=${PIPESTATUS[0]}
    while IFS= read -r name; do names+=("$name"); done < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$output" | sort -u)
    if [ "$status" -ne 0 ] && every_program_ended "$output" && [ "${#names[@]}" -le "$most_retried" ]; then
        printf '\n-- run once more: %s --\n' "${names[*]}"
        with_features cargo test --locked --no-fail-fast "$@" -- --exact --test-threads=1 "${names[@]}" &&
            printf '%s\n' "${names[@]}" >>"$flaky" && status=0
    fi
    rm -f "$output"
    return "$status"
}

# Whether each test program that failed has counted its failures: one that crashed has not, and has more to say than that.
every_program_ended() {
    local counted failed
    counted="$(grep -c '^test result: FAILED' "$1")"
    failed="$(sed -n 's/^error: \([0-9]*\) targets\{0,1\} failed:$/\1/p' "$1")"
    [ "$counted" -gt 0 ] && [ "$counted" = "$failed" ]
}

# ---- the stages -------------------------------------------------------------------------------------------

# The tests of reading run each check with the program and with the library, which comes with it. The headers are for the
# lints of the feature `ocr` alone.
ocr_packages() {
    command -v tesseract >/dev/null || system_packages tesseract-ocr || return
    ocr_headers_are_there || system_packages libtesseract-dev libleptonica-dev clang pkg-config || return
    ocr_headers_are_there && tesseract --version 2>&1 | head -n 1
}

ocr_headers_are_there() {
    pkg-config --exists tesseract lept 2>/dev/null && command -v clang >/dev/null
}

# Which sockets a server opens is seen from outside of it.
socket_tracer() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: the sockets are counted on Linux only."
        return "$missing_tool"
    fi
    command -v strace >/dev/null || system_packages strace || return
    strace -V | head -n 1
}

wayland_packages() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: Wayland is a matter of Linux."
        return "$missing_tool"
    fi
    wayland_libraries_are_there || system_packages libxcb1-dev libpipewire-0.3-dev libgbm-dev libegl-dev libwayland-dev \
        libxkbcommon-dev clang pkg-config || return
    wayland_libraries_are_there && pkg-config --modversion wayland-client libpipewire-0.3
}

wayland_libraries_are_there() {
    pkg-config --exists xcb libpipewire-0.3 gbm egl wayland-client xkbcommon 2>/dev/null && command -v clang >/dev/null
}

# with_features cargo COMMAND ARGUMENT...: with every feature, but not with `wayland` where its libraries are missing, nor
# with `ocr`, which would link what users have loaded.
with_features() {
    local command="$2" left_out="default|ocr" features
    shift 2
    wayland_libraries_are_there || left_out="$left_out|wayland"
    features="$(sed -n '/^\[features\]/,/^$/s/^\([a-z_]*\) = .*/\1/p' Cargo.toml | grep -Evx "$left_out" | paste -sd, -)"
    cargo "$command" --features="$features" "$@"
}

formatting() {
    rust_component fmt rustfmt && cargo fmt --check
}

# With every feature, and once without any: what `http` brings in must not be missed by the rest.
lints() {
    local linked=""
    rust_component clippy clippy || return
    ! ocr_headers_are_there || linked=ocr
    with_features cargo clippy --locked --workspace --features "$linked" --all-targets -- -D warnings &&
        cargo clippy --locked --no-default-features -- -D warnings
}

# Unit, integration and documentation tests, and the check that generated documents are fresh. Those on a real
# desktop are a stage of their own; both are built with the same features, so that nothing is built twice.
cargo_tests() {
    local targets=(--lib --bins) file status=0
    for file in tests/*.rs tests/*/main.rs; do
        file="${file%/main.rs}"
        case $file in tests/desktop* | tests/browser) ;; *) targets+=(--test "$(basename "$file" .rs)") ;; esac
    done
    cargo_test --workspace "${targets[@]}" || status=$?
    cargo_test --doc || status=$?
    return "$status"
}

# A private desktop with programs that nobody here wrote, worked through the built server.
desktop_tests() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: there is a private desktop on Linux only."
        return "$missing_tool"
    fi
    desktop_programs_are_there || system_packages "${desktop_packages[@]}" || return
    cargo_test --test desktop --test desktop_x11
}

# Pages of a site on loopback, in a browser that the built server starts.
browser_tests() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: these tests start Debian's chromium."
        return "$missing_tool"
    fi
    command -v chromium >/dev/null && command -v chromium-headless-shell >/dev/null ||
        system_packages chromium chromium-headless-shell || return
    miniwob_pages || return
    [ -f "$(rustc --print sysroot)/share/doc/rust/html/std/index.html" ] || rustup component add rust-docs || return
    export MINIWOB_HTML="$miniwob_html"
    cargo_test --test browser || return
    OSO_BROWSER__EXECUTABLE=chromium-headless-shell cargo_test --test browser
}

# Sixty tasks of other people by scripted policies, on real pages and through the built server. All ten seeds:
# tests/browser/miniwob/run.py "$(cat .cache/server)" .cache/miniwob-*/miniwob/html
miniwob_tasks() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: these tests start Debian's chromium."
        return "$missing_tool"
    fi
    server_is_built || return
    command -v chromium >/dev/null || system_packages chromium || return
    miniwob_pages || return
    bounded 900 python3 tests/browser/miniwob/run.py "$(cat "$cache/server")" "$miniwob_html" --seeds 1
}

# A compositor without a screen, with no X server beside it; it refuses to run as root, so the test gives itself up to
# another user then. Built with the same features as the rest, so that nothing is built twice.
wayland_tests() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: Wayland is a matter of Linux."
        return "$missing_tool"
    fi
    wayland_programs_are_there || system_packages sway xwayland dbus at-spi2-core gtk-3-examples gnome-calculator zenity \
        fonts-dejavu-core python3-gi gir1.2-gtk-3.0 gir1.2-gtk-4.0 || return
    cargo_test --test desktop_wayland
}

wayland_programs_are_there() {
    local program
    for program in sway Xwayland dbus-run-session gtk3-widget-factory gnome-calculator zenity; do
        command -v "$program" >/dev/null || return
    done
    local version
    for version in 3.0 4.0; do
        /usr/bin/python3 -c "import gi; gi.require_version('Gtk', '$version')" 2>/dev/null || return
    done
}

desktop_packages=(xvfb dbus at-spi2-core openbox gtk-3-examples gtk-4-examples gnome-calculator mousepad kcalc
    featherpad chromium xterm zenity python3-pyatspi fonts-dejavu-core xinput xdotool x11-utils gir1.2-gtk-3.0 gir1.2-gtk-4.0
    python3-pyqt5 libreoffice-calc libreoffice-writer libreoffice-gtk3 firefox-esr keepassxc kwrite yad pcmanfm gimp inkscape
    gedit geany jedit default-jdk libatk-wrapper-java bubblewrap)

desktop_programs_are_there() {
    local program
    for program in Xvfb dbus-daemon openbox gtk3-widget-factory gtk4-widget-factory gnome-calculator mousepad kcalc \
        featherpad chromium xterm zenity xinput xdotool xprop localc lowriter firefox-esr keepassxc kwrite yad pcmanfm gimp inkscape gedit \
        geany jedit javac bwrap; do
        command -v "$program" >/dev/null || return
    done
    [ -e /usr/share/java/java-atk-wrapper.jar ] || return
    /usr/bin/python3 -c "import pyatspi, gi, PyQt5.QtWidgets; gi.require_version('Gtk', '4.0')" 2>/dev/null
}

# Types and lints of the code for Windows and macOS, by a toolchain that is made of Debian's packages.
other_systems() {
    debian_with mingw x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-posix || return
    tests/cross/check.sh lint "$cache"
}

windows_under_wine() {
    debian_with mingw x86_64-w64-mingw32-gcc gcc-mingw-w64-x86-64-posix || return
    debian_with Wine wine wine wine64 fonts-wine || return
    debian_with Xvfb Xvfb xvfb || return
    if ! unshare --fork --pid --mount-proc true 2>/dev/null; then
        echo "Not run: this user may not make a namespace for processes, in which Wine ends with the test."
        return "$missing_tool"
    fi
    tests/cross/check.sh wine "$cache"
}

# debian_with NAME PROGRAM PACKAGE...: a program of Debian, installed if it is missing.
debian_with() {
    local name="$1" program="$2"
    shift 2
    if ! command -v apt-get >/dev/null || [ "$(uname -m)" != x86_64 ]; then
        echo "Not run: the toolchain for other systems is made of packages of Debian for x86-64."
        return "$missing_tool"
    fi
    command -v "$program" >/dev/null || system_packages "$@" || return
    command -v "$program" >/dev/null || { echo "Not run: there is no $name."; return "$missing_tool"; }
}

dependency_rules() {
    cargo_tool cargo-deny "$cargo_deny" && cargo deny --locked check bans licenses sources
}

# The database of advisories comes from outside the package registries and may be out of reach.
dependency_advisories() {
    cargo_tool cargo-deny "$cargo_deny" || return
    if ! GIT_TERMINAL_PROMPT=0 bounded 120 cargo deny --locked fetch db; then
        echo "**********************************************************************************"
        echo "** NOT CHECKED: the database of known vulnerabilities could not be fetched.     **"
        echo "** Run ./test.sh where it can be reached before you publish a release.          **"
        echo "**********************************************************************************"
        return "$unreachable"
    fi
    cargo deny --locked check advisories
}

dependencies_unused() {
    cargo_tool cargo-machete "$cargo_machete" && cargo machete
}

# The program that the cargo tests were built with: a plain `cargo build` would build the dependencies again, without
# what the tests' own dependencies want of them. Cargo itself says where it is, whatever CARGO_TARGET_DIR or a
# configuration file says.
client_server() {
    rm -f "$cache/server"
    with_features cargo test --locked --no-run --test suite --message-format=json-render-diagnostics >"$cache/build.json" || return
    grep -F '"kind":["bin"]' "$cache/build.json" | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1 >"$cache/server"
    [ -s "$cache/server" ] && echo "built $(cat "$cache/server")"
}

manifests() {
    python_environment venv-mcp-2 requirements.txt && "$cache/venv-mcp-2/bin/python" "$clients/manifests.py"
}

python_client() {
    local environment="$1" requirements="$2" program="$3"
    server_is_built || return
    python_environment "$environment" "$requirements" || return
    "$cache/$environment/bin/python" "$clients/$program" "$(cat "$cache/server")"
}

page_client() {
    server_is_built || return
    command -v chromium >/dev/null || system_packages chromium || return
    python_environment venv-mcp-2 requirements.txt && "$cache/venv-mcp-2/bin/python" "$clients/page_client.py" "$(cat "$cache/server")"
}

inspector_client() {
    server_is_built || return
    node_environment || return
    INSPECTOR_BIN="$cache/node/node_modules/.bin" "$clients/inspector.sh" "$(cat "$cache/server")"
}

# The clients in clients/ as their users get them: packed, installed into an empty place, and used.
client_packages() {
    server_is_built || return
    node_environment || return
    python_environment venv-packages requirements-packages.txt || return
    "$cache/venv-packages/bin/python" "$clients/packages.py" "$(cat "$cache/server")" "$cache/node" "$cache/venv-packages/bin/mypy"
}

openapi_document() {
    server_is_built || return
    python_environment venv-openapi requirements-openapi.txt || return
    "$cache/venv-openapi/bin/python" "$clients/openapi.py" "$(cat "$cache/server")"
}

conformance_suite() {
    server_is_built || return
    python_environment venv-mcp-2 requirements.txt || return
    node_environment || return
    CONFORMANCE_BIN="$cache/node/node_modules/.bin" "$cache/venv-mcp-2/bin/python" "$clients/conformance.py" \
        "$(cat "$cache/server")"
}

load_beside_waits() {
    server_is_built || return
    python_environment venv-mcp-2 requirements.txt || return
    "$cache/venv-mcp-2/bin/python" "$clients/load.py" "$(cat "$cache/server")"
}

requests_of_the_original() {
    server_is_built || return
    if [ "$(uname -s)" = Linux ]; then
        desktop_programs_are_there || system_packages "${desktop_packages[@]}" || return
    fi
    python3 "$clients/original.py" "$(cat "$cache/server")"
}

# OpenCode's own program; its packages have the program for each system, and no script of theirs is run.
opencode_planner() {
    server_is_built || return
    local environment="$cache/opencode" version=1.18.33 program
    python_can_make_environments || system_packages python3 python3-venv || return
    command -v npm >/dev/null || system_packages nodejs npm || return
    if [ "$(cat "$environment/installed" 2>/dev/null)" != "$version" ]; then
        mkdir -p "$environment" &&
            npm install --prefix "$environment" --no-package-lock --no-audit --no-fund --loglevel=error \
                --ignore-scripts "opencode-ai@$version" && echo "$version" > "$environment/installed" ||
            return "$unreachable"
    fi
    for program in "$environment"/node_modules/opencode-*-baseline/bin/opencode "$environment"/node_modules/opencode-*/bin/opencode; do
        if [ -x "$program" ] && "$program" --version >/dev/null 2>&1; then
            bounded 600 python3 "$clients/opencode.py" "$(cat "$cache/server")" "$program"
            return
        fi
    done
    echo "Not run: there is no OpenCode for this system."
    return "$missing_tool"
}

dialog_by_curl() {
    if [ "$(uname -s)" != Linux ]; then
        echo "Not run: there is a private desktop on Linux only."
        return "$missing_tool"
    fi
    server_is_built || return
    desktop_programs_are_there || system_packages "${desktop_packages[@]}" || return
    command -v curl >/dev/null || system_packages curl || return
    "$clients/clickthrough.sh" "$(cat "$cache/server")"
}

# Pictures of every panel are kept, for people to look at.
page_in_browser() {
    server_is_built || return
    node_environment || return
    command -v chromium >/dev/null || system_packages chromium || return
    NODE_PACKAGES="$cache/node" "$cache/node/node_modules/.bin/node" "$clients/page.mjs" "$(cat "$cache/server")" "$cache/page"
}

app_in_browser() {
    server_is_built || return
    node_environment || return
    command -v chromium >/dev/null || system_packages chromium || return
    NODE_PACKAGES="$cache/node" "$cache/node/node_modules/.bin/node" "$clients/app.mjs" "$(cat "$cache/server")" "$cache/page"
}

server_is_built() {
    [ -s "$cache/server" ] && return
    echo "Not run: the server could not be built."
    return 1
}

# ---- what the stages need ---------------------------------------------------------------------------------

rust_component() {
    cargo "$1" --version >/dev/null 2>&1 && return
    echo "Installing the Rust component $2."
    rustup component add "$2" && return
    echo "The Rust component $2 is missing and rustup cannot add it."
    return "$missing_tool"
}

cargo_tool() {
    command -v "$1" >/dev/null && return
    echo "Building $1 $2 into the cache; this takes some minutes, once."
    # Unoptimised is quick enough for a tool that runs once and saves most of the time to build it.
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --debug --quiet --locked --root "$cargo_tools" "$1@$2"
}

# The pages of MiniWoB++ in the cache. Of the package only files are wanted, so that nothing is installed.
miniwob_pages() {
    local folder="$cache/miniwob-$miniwob"
    miniwob_html="$folder/miniwob/html"
    [ ! -d "$miniwob_html" ] || return 0
    python_environment venv-mcp-2 requirements.txt || return
    "$cache/venv-mcp-2/bin/python" -m pip download --quiet --no-deps --dest "$folder" "miniwob==$miniwob" &&
        python3 -m zipfile -e "$folder"/miniwob-*.whl "$folder"
}

# python_environment NAME REQUIREMENTS: a virtual environment in the cache, made anew when the requirements change.
python_environment() {
    local environment="$cache/$1" requirements="$clients/$2"
    if cmp -s "$requirements" "$environment/installed.txt" && "$environment/bin/python" -c ""; then
        return
    fi
    python_can_make_environments || system_packages python3 python3-venv || return
    if ! python_can_make_environments; then
        echo "Python 3.10 or newer with its venv module is needed; install it and run ./test.sh again."
        return "$missing_tool"
    fi
    echo "Installing the packages of $2 into the cache."
    python3 -m venv --clear "$environment" &&
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements" &&
        cp "$requirements" "$environment/installed.txt"
}

python_can_make_environments() {
    python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# The Inspector needs a newer Node than most systems have, so npm brings one along.
node_environment() {
    local environment="$cache/node"
    if cmp -s "$clients/package.json" "$environment/installed.json" && [ -x "$environment/node_modules/.bin/node" ]; then
        return
    fi
    command -v npm >/dev/null || system_packages nodejs npm || return
    echo "Installing the packages of package.json into the cache."
    mkdir -p "$environment" && cp "$clients/package.json" "$environment/" &&
        npm install --prefix "$environment" --no-package-lock --no-audit --no-fund --loglevel=error &&
        "$environment/node_modules/.bin/node" --version && cp "$clients/package.json" "$environment/installed.json"
}

# Installs Debian packages when that needs no question; otherwise says what to install.
system_packages() {
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "Installing $* with apt-get."
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
        return
    fi
    echo "Missing: $*. Install it with your package manager (Debian: sudo apt-get install $*) and run ./test.sh again."
    return "$missing_tool"
}

# bounded SECONDS COMMAND...: a time limit where the system can set one.
bounded() {
    if command -v timeout >/dev/null; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}

main "$@"
