#!/bin/sh
# Builds os-screen-observer and starts it, after making sure that a Rust toolchain and a C compiler are there.
# Standard output belongs to the server, which speaks MCP on it: everything this script says goes to stderr.
set -eu

assume_yes=no
ocr="what reads text in pictures (tesseract)"
wayland_libraries="the libraries that ask the portal of a Wayland session (pipewire, gbm, egl, wayland, xcb, xkbcommon)"
project=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

main() {
    while [ $# -gt 0 ]; do
        case $1 in
            --yes) assume_yes=yes ;;
            --help | -h) show_help && exit 0 ;;
            --)
                shift
                break
                ;;
            *) break ;;
        esac
        shift
    done

    # A desktop application starts us without the PATH of a shell; and where rustup has put a cargo, that one is
    # meant, whatever the system has besides.
    PATH="${CARGO_HOME:-${HOME:-}/.cargo}/bin:$PATH:/opt/homebrew/bin:/usr/local/bin"
    export PATH
    ensure_compiler
    ensure_rust
    ensure_private_desktop "$@"
    ensure_browser "$@"
    features=
    prefer_ocr
    prefer_wayland_libraries
    build_server
    if [ $# -eq 0 ] && at_terminal; then
        show_how_to_connect
    fi
    exec "$server" "$@"
}

show_help() {
    printf '%s\n' "Usage: start.sh [--yes] [--] [ARGUMENT...]

Builds os-screen-observer and starts it with the arguments. What is needed and missing
(a Rust toolchain, a C compiler, with --sandbox the parts of a desktop, with --browser a browser) is named; at a
terminal you are asked
before each installation. What reads text in pictures (tesseract) is offered where it is
missing. In a Wayland session with an X server the libraries that ask its portal are built in
where they are there or may be installed.

  --yes     install what is missing without asking
  --help    show this text
  --        end of this script's options: all that follows goes to the server

Without arguments at a terminal it builds, shows how to connect a client, and serves
the web inspector; the last line says where.

  ./start.sh -- --help                 the server's own options
  ./start.sh --mode mcp                serve MCP on stdin and stdout
  ./start.sh --mode mcp --mock         the same with a mock desktop
  ./start.sh --sandbox gnome-calculator
                                       the same on a private desktop with that program (Linux)
  ./start.sh --browser https://…       the same in a browser, whose tabs are windows
  ./start.sh doctor                    what works on this machine, and what does not"
}

say() {
    printf '%s\n' "$*" >&2
}

# ---- what the build needs ---------------------------------------------------------------------------------

ensure_compiler() {
    ! have_compiler || return 0
    case $(package_manager) in
        xcode) offer "a C compiler" "xcode-select --install" ;;
        apt-get) offer "a C compiler" "$(as_root)apt-get update && $(as_root)apt-get install -y gcc libc6-dev" ;;
        dnf) offer "a C compiler" "$(as_root)dnf install -y gcc" ;;
        pacman) offer "a C compiler" "$(as_root)pacman -S --needed --noconfirm gcc" ;;
        zypper) offer "a C compiler" "$(as_root)zypper --non-interactive install gcc" ;;
        brew) offer "a C compiler" "brew install gcc" ;;
        *) give_up "a C compiler (cc)" "Install gcc or clang, then run this script again." ;;
    esac
    have_compiler || give_up "a C compiler (cc)" "When the installation has finished, run this script again."
}

# On macOS /usr/bin/cc is always there, but without the developer tools it only opens a dialog.
have_compiler() {
    if [ "$(uname -s)" = Darwin ]; then
        xcode-select -p >/dev/null 2>&1
    else
        command -v cc >/dev/null 2>&1
    fi
}

ensure_rust() {
    ! have_rust || return 0
    if command -v rustup >/dev/null 2>&1; then
        offer "Rust $(wanted_rust) or newer" "rustup toolchain install stable --profile minimal && rustup default stable"
    else
        install_rust
    fi
    have_rust || give_up "Rust $(wanted_rust) or newer" "See https://rustup.rs for other ways to install it."
}

# Distributions often carry an old cargo, so their rustup package is preferred where there is one.
install_rust() {
    what="Rust $(wanted_rust) or newer"
    case $(package_manager) in
        apt-get)
            if apt-cache show rustup >/dev/null 2>&1; then
                offer "$what" "$(as_root)apt-get install -y rustup && rustup default stable"
            else
                offer_installer "$what"
            fi
            ;;
        dnf) offer "$what" "$(as_root)dnf install -y cargo" ;;
        pacman) offer "$what" "$(as_root)pacman -S --needed --noconfirm rustup && rustup default stable" ;;
        zypper) offer "$what" "$(as_root)zypper --non-interactive install rustup && rustup default stable" ;;
        brew) offer "$what" "brew install rust" ;;
        *) offer_installer "$what" ;;
    esac
}

# With --sandbox the server starts a desktop of its own: the parts of it, and the program in it where a package has
# its name.
ensure_private_desktop() {
    wants_sandbox "$@" || return 0
    missing=""
    command -v Xvfb >/dev/null 2>&1 || missing="$missing $(sandbox_package Xvfb)"
    command -v dbus-daemon >/dev/null 2>&1 || missing="$missing $(sandbox_package dbus-daemon)"
    have_accessibility_launcher || missing="$missing $(sandbox_package at-spi)"
    command -v openbox >/dev/null 2>&1 || missing="$missing openbox"
    if [ -n "$missing" ]; then
        what="a private desktop (${missing# })"
        [ -n "$(install_command)" ] || give_up "$what" "Install it, then run this script again."
        offer "$what" "$(install_command)$missing"
    fi
    command -v bwrap >/dev/null 2>&1 || [ -z "$(install_command)" ] ||
        offer_part "the isolation of a private desktop (bubblewrap)" "$(install_command) bubblewrap"
    program=$(sandbox_program "$@")
    case $program in
        "" | *[!a-zA-Z0-9.+_-]*) return 0 ;;
    esac
    command -v "$program" >/dev/null 2>&1 || [ -z "$(install_command)" ] ||
        offer_part "the program $program" "$(install_command) $program"
}

# With --browser the server starts a browser. One that browser.executable names is the user's own matter.
ensure_browser() {
    wants_browser "$@" || return 0
    [ -z "${OSO_BROWSER__EXECUTABLE:-}" ] || return 0
    for browser in chromium chromium-browser google-chrome google-chrome-stable microsoft-edge \
        chromium-headless-shell "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
        /Applications/Chromium.app/Contents/MacOS/Chromium; do
        ! command -v "$browser" >/dev/null 2>&1 || return 0
    done
    [ -n "$(install_command)" ] || give_up "a browser" "Install Chromium, Chrome or Edge, then run this script again."
    offer "a browser (chromium)" "$(install_command) chromium"
}

wants_browser() {
    for word in "$@"; do
        case $word in
            --browser | --browser=*) return 0 ;;
            --) return 1 ;;
        esac
    done
    return 1
}

install_command() {
    case $(package_manager) in
        apt-get) echo "$(as_root)apt-get update && $(as_root)apt-get install -y" ;;
        dnf) echo "$(as_root)dnf install -y" ;;
        pacman) echo "$(as_root)pacman -S --needed --noconfirm" ;;
        zypper) echo "$(as_root)zypper --non-interactive install" ;;
    esac
}

wants_sandbox() {
    for word in "$@"; do
        case $word in
            --sandbox | --sandbox=*) return 0 ;;
            --) return 1 ;;
        esac
    done
    return 1
}

# The word behind --sandbox, or the first one behind --, unless it is a flag or a command of the server.
sandbox_program() {
    while [ $# -gt 0 ]; do
        case $1 in
            --sandbox=*)
                echo "${1#--sandbox=}"
                return
                ;;
            --sandbox)
                case ${2:-} in
                    "" | doctor | tools | models | call | trace | profile | scenario | help) ;;
                    --)
                        echo "${3:-}"
                        return
                        ;;
                    -*) ;;
                    *)
                        echo "$2"
                        return
                        ;;
                esac
                ;;
            --)
                echo "${2:-}"
                return
                ;;
        esac
        shift
    done
}

sandbox_package() {
    case $1-$(package_manager) in
        Xvfb-apt-get) echo xvfb ;;
        Xvfb-pacman) echo xorg-server-xvfb ;;
        Xvfb-*) echo xorg-x11-server-Xvfb ;;
        dbus-daemon-dnf) echo dbus-daemon ;;
        dbus-daemon-zypper) echo dbus-1 ;;
        dbus-daemon-*) echo dbus ;;
        at-spi-*) echo at-spi2-core ;;
    esac
}

have_accessibility_launcher() {
    for launcher in /usr/libexec /usr/lib/at-spi2-core /usr/lib /usr/libexec/at-spi2; do
        [ ! -x "$launcher/at-spi-bus-launcher" ] || return 0
    done
    return 1
}

# Reading text is a part that the server can do without, so nothing here ends the script. The server looks for the
# library and the program when it runs; the build needs neither.
prefer_ocr() {
    ! have_ocr || return 0
    case $(package_manager) in
        apt-get) offer_part "$ocr" "$(as_root)apt-get update && $(as_root)apt-get install -y tesseract-ocr" ;;
        dnf) offer_part "$ocr" "$(as_root)dnf install -y tesseract" ;;
        pacman) offer_part "$ocr" "$(as_root)pacman -S --needed --noconfirm tesseract tesseract-data-eng" ;;
        zypper) offer_part "$ocr" "$(as_root)zypper --non-interactive install tesseract-ocr" ;;
        brew) offer_part "$ocr" "brew install tesseract" ;;
        *) say "There is no package manager here that has $ocr." ;;
    esac
    have_ocr || say "NOTE: the server cannot read text in pictures until tesseract is installed."
}

have_ocr() {
    command -v tesseract >/dev/null 2>&1
}

# Beside an X server (Xwayland) the picture of the whole screen may need the portal; nothing else under Wayland needs them.
prefer_wayland_libraries() {
    [ -n "${WAYLAND_DISPLAY:-}" ] && [ -n "${DISPLAY:-}" ] || return 0
    if ! have_wayland_libraries; then
        case $(package_manager) in
            apt-get) packages="libxcb1-dev libpipewire-0.3-dev libgbm-dev libegl-dev libwayland-dev libxkbcommon-dev clang pkg-config" ;;
            dnf) packages="libxcb-devel pipewire-devel mesa-libgbm-devel mesa-libEGL-devel wayland-devel libxkbcommon-devel clang pkgconf-pkg-config" ;;
            pacman) packages="libxcb libpipewire mesa libglvnd wayland libxkbcommon clang pkgconf" ;;
            zypper) packages="libxcb-devel pipewire-devel libgbm-devel Mesa-libEGL-devel wayland-devel libxkbcommon-devel clang pkg-config" ;;
            *) packages="" ;;
        esac
        if [ -n "$packages" ]; then
            offer_part "$wayland_libraries" "$(install_command) $packages"
        else
            say "There is no package manager here that has $wayland_libraries."
        fi
    fi
    if have_wayland_libraries; then
        features=wayland
        say "This is a Wayland session: the server is built with the feature wayland."
    else
        say "NOTE: without $wayland_libraries the server can picture the whole screen on sway and its kin only."
    fi
}

have_wayland_libraries() {
    pkg-config --exists xcb libpipewire-0.3 gbm egl wayland-client xkbcommon 2>/dev/null && command -v clang >/dev/null 2>&1
}

# offer_part WHAT COMMAND: like offer, but a no, nobody to ask, or a failure leaves the rest as it is.
offer_part() {
    if [ "$assume_yes" = no ]; then
        at_terminal || return 0
        printf 'Missing, and not necessary: %s. Install it with this command?\n  %s\n[y/N] ' "$1" "$2" >&2
        read -r answer || answer=
        case $answer in
            [yY] | [yY][eE][sS]) ;;
            *) return 0 ;;
        esac
    fi
    say "Installing $1: $2"
    sh -c "$2" </dev/null >&2 || say "The installation failed; going on without it."
}

# A script from the network is run only when a person at a terminal has agreed, so --yes is not enough for it.
offer_installer() {
    installer="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal"
    at_terminal || give_up "$1" "The packages here have none. Install it with this command:" "  $installer"
    assume_yes=no
    offer "$1" "$installer"
}

have_rust() {
    found=$(cargo --version 2>/dev/null) || return 1
    found=${found#cargo }
    newer_or_equal "${found%% *}" "$(wanted_rust)"
}

wanted_rust() {
    sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$project/Cargo.toml"
}

# Compares MAJOR.MINOR of two versions; `sort -V` is not everywhere.
newer_or_equal() {
    major=${1%%.*} minor=${1#*.}
    wanted_major=${2%%.*} wanted_minor=${2#*.}
    [ "$major" -gt "$wanted_major" ] && return 0
    [ "$major" -eq "$wanted_major" ] && [ "${minor%%.*}" -ge "${wanted_minor%%.*}" ]
}

package_manager() {
    if [ "$(uname -s)" = Darwin ] && ! have_compiler; then
        echo xcode
        return
    fi
    for manager in apt-get dnf pacman zypper brew; do
        if command -v "$manager" >/dev/null 2>&1; then
            echo "$manager"
            return
        fi
    done
}

as_root() {
    [ "$(id -u)" -eq 0 ] || echo "sudo "
}

# offer WHAT COMMAND: installs after a yes; where nobody can be asked, shows the command and ends.
offer() {
    if [ "$assume_yes" = no ]; then
        at_terminal || give_up "$1" "Install it with this command, or run \`start.sh --yes\`:" "  $2"
        printf 'Missing: %s. Install it with this command?\n  %s\n[y/N] ' "$1" "$2" >&2
        read -r answer || answer=
        case $answer in
            [yY] | [yY][eE][sS]) ;;
            *) give_up "$1" "Nothing was installed. The command was:" "  $2" ;;
        esac
    fi
    say "Installing $1: $2"
    sh -c "$2" </dev/null >&2 || give_up "$1" "The installation failed:" "  $2"
}

at_terminal() {
    [ -t 0 ] && [ -t 2 ]
}

give_up() {
    say "start.sh: $1 is needed and missing."
    shift
    for line in "$@"; do
        say "$line"
    done
    exit 1
}

# ---- the build --------------------------------------------------------------------------------------------

# Cargo itself says where the binary is, whatever CARGO_TARGET_DIR or a configuration file says.
build_server() {
    say "Building os-screen-observer (the first time takes a few minutes)."
    if ! messages=$(run_cargo); then
        [ -n "$features" ] || give_up "a build without errors" "See what cargo says above."
        say "NOTE: the build with the feature $features failed; building without it."
        features=
        messages=$(run_cargo) || give_up "a build without errors" "See what cargo says above."
    fi
    server=$(printf '%s\n' "$messages" | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1)
    [ -x "$server" ] || give_up "the built server" "cargo build reported success, but no executable."
}

run_cargo() {
    (cd -- "$project" && cargo build --profile quick --locked --features "$features" --message-format=json-render-diagnostics </dev/null)
}

show_how_to_connect() {
    say "
Ready: $server

It speaks MCP on stdin and stdout, so a client has to start it. For Claude Desktop and
most others, paste this into the configuration (claude_desktop_config.json) and restart:

{
  \"mcpServers\": {
    \"os-screen-observer\": {
      \"command\": \"$server\",
      \"args\": [\"--mode\", \"mcp\"]
    }
  }
}

For Claude Code:

  claude mcp add os-screen-observer -- \"$server\" --mode mcp

Add --mock to the arguments for a mock desktop that needs no permissions and touches
nothing. To look around from here:

  ./start.sh doctor                        what works on this machine
  ./start.sh call list_windows --mock      one tool call on the mock desktop
  ./start.sh -- --help                     all options

The web inspector is served from here until Ctrl+C ends it:"
}

main "$@"
