#!/usr/bin/env bash
# Lets libFuzzer search for inputs that break a property.
#
#     fuzz/run.sh                     every target for ten minutes, three at a time
#     fuzz/run.sh TARGET [SECONDS]    one target
#     fuzz/run.sh --list              the targets
#
# What is found is in fuzz/artifacts/TARGET, shrunk with `fuzz/run.sh --shrink TARGET FILE`; a copy in
# fuzz/regressions/TARGET is tried by every test run from then on. Logs are fuzz/artifacts/TARGET.log.
#
# OSO_CACHE        where cargo-fuzz is kept (default: .cache in the project, which git ignores)
# FUZZ_JOBS        targets at a time (default: 3)
# FUZZ_SANITIZER   none (default) works with the stable toolchain; address needs a nightly one
set -uo pipefail

cargo_fuzz=0.13.2

project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$project" || exit 1
mkdir -p "${OSO_CACHE:-.cache}" || exit 1
cache="$(cd -- "${OSO_CACHE:-.cache}" && pwd)"
# The server takes OSO_ variables for settings.
unset OSO_CACHE
tools="$cache/cargo-fuzz-$cargo_fuzz"
export PATH="$PATH:$tools/bin:${CARGO_HOME:-${HOME:-}/.cargo}/bin"
sanitizer="${FUZZ_SANITIZER:-none}"

main() {
    case "${1:-}" in
        --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$project/fuzz/run.sh" ;;
        --list) all_targets ;;
        --shrink)
            has_cargo_fuzz && cargo fuzz tmin --sanitizer "$sanitizer" "$2" "$3" -- -max_total_time=60
            ;;
        "")
            has_cargo_fuzz && cargo fuzz build --sanitizer "$sanitizer" || return
            all_targets | xargs -P "${FUZZ_JOBS:-3}" -I TARGET "$project/fuzz/run.sh" TARGET 600
            ;;
        *) has_cargo_fuzz && search "$1" "${2:-600}" ;;
    esac
}

all_targets() {
    local file
    for file in fuzz/targets/*.rs; do basename "$file" .rs; done
}

has_cargo_fuzz() {
    command -v cargo-fuzz >/dev/null && return
    echo "Building cargo-fuzz $cargo_fuzz into the cache; this takes some minutes, once."
    cargo install --quiet --locked --root "$tools" "cargo-fuzz@$cargo_fuzz"
}

# search TARGET SECONDS: new inputs go to the corpus; seeds and regressions are only read.
search() {
    local target="$1" seconds="$2" words="fuzz/dictionaries/$1.dict" arguments=()
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target" "fuzz/regressions/$target"
    [ ! -f "$words" ] || arguments+=("-dict=$words")
    FUZZ_SLOW_DIR="$project/fuzz/artifacts/$target" \
        cargo fuzz run --sanitizer "$sanitizer" "$target" \
        "fuzz/corpus/$target" "fuzz/seeds/$target" "fuzz/regressions/$target" -- \
        "${arguments[@]}" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=4096 \
        -print_final_stats=1 >"fuzz/artifacts/$target.log" 2>&1
    local status=$?
    tail -n 25 "fuzz/artifacts/$target.log" | grep -E 'stat::number_of_executed|cov:|ERROR|panicked' || true
    return "$status"
}

main "$@"
