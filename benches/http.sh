#!/usr/bin/env bash
# What a call costs over HTTP: list_windows on the mock over kept connections, by wrk, alone and while calls wait.
#
#     benches/http.sh                     builds the release first
#     SERVER=target/debug/… benches/http.sh    measures another build
#
# SECONDS_A_RUN (10), ROUNDS (3), CONNECTIONS (8), WAITS (50). Needs wrk and curl; CPU time is read from /proc, which
# only Linux has. Nothing here fails when a figure is bad: docs/performance.md says what is wanted.
set -euo pipefail

seconds="${SECONDS_A_RUN:-10}"
rounds="${ROUNDS:-3}"
connections="${CONNECTIONS:-8}"
waits="${WAITS:-50}"

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
for needed in wrk curl; do
    command -v "$needed" >/dev/null || { echo "http.sh: $needed is missing (Debian: apt-get install $needed)" >&2; exit 1; }
done
if [ -z "${SERVER:-}" ]; then
    cargo build --release --locked
    SERVER=target/release/os-screen-observer
fi

scratch="$(mktemp -d)"
server_pid=""
wait_pids=()

# Ends what was started here, each by its id.
clean_up() {
    [ "${#wait_pids[@]}" -eq 0 ] || kill "${wait_pids[@]}" 2>/dev/null || true
    [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$scratch"
}
trap clean_up EXIT

start_server() {
    echo '{}' >"$scratch/config.json"
    HOME="$scratch" XDG_STATE_HOME="$scratch" "$SERVER" --mode inspect --mock --port 0 --config "$scratch/config.json" \
        2>"$scratch/said" &
    server_pid=$!
    for _ in $(seq 100); do
        address="$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$scratch/said" | head -n 1)" && return
        sleep 0.1
    done
    echo "http.sh: the server did not start:" >&2
    cat "$scratch/said" >&2
    exit 1
}

# The server's own CPU time, in ticks.
cpu_ticks() {
    awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$server_pid/stat"
}

# measure NAME WRK-ARGUMENT...: a line for each round.
measure() {
    local name="$1" before after
    shift
    for _ in $(seq "$rounds"); do
        before="$(cpu_ticks)"
        wrk --threads 1 --connections "$connections" --duration "${seconds}s" --latency "$@" >"$scratch/wrk"
        after="$(cpu_ticks)"
        awk -v name="$name" -v ticks="$((after - before))" -v hertz="$(getconf CLK_TCK)" '
            / 50% / { half = $2 }
            / 99% / { slowest = $2 }
            /requests in/ { requests = $1 }
            /Requests\/sec/ { rate = $2 }
            /Non-2xx|Socket errors/ { wrong = " — " $0 }
            END { printf "%-44s %9.0f/s  p50 %8s  p99 %8s  %5.1f µs CPU%s\n", name, rate, half, slowest,
                         ticks * 1e6 / hertz / requests, wrong }' "$scratch/wrk"
    done
}

# Calls that wait for a window that never comes, each on a connection of its own.
hang_waits() {
    local condition='{"any_of":[{"type":"window_appears","title_regex":"^never$"}],"timeout_ms":60000}'
    for _ in $(seq "$waits"); do
        curl --silent --output /dev/null --header 'Content-Type: application/json' --data "$condition" \
            "$address/api/wait_for" &
        wait_pids+=("$!")
    done
    sleep 1
}

let_waits_go() {
    local running=0 pid
    for pid in "${wait_pids[@]}"; do ! kill -0 "$pid" 2>/dev/null || running=$((running + 1)); done
    echo "$running of $waits calls were waiting to the end"
    kill "${wait_pids[@]}" 2>/dev/null || true
    wait_pids=()
}

cat >"$scratch/mcp.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_windows","arguments":{}}}'
LUA

start_server
echo "$SERVER: $(wc -c <"$SERVER") bytes"
wrk --threads 1 --connections "$connections" --duration 1s "$address/api/windows" >/dev/null
measure "GET /api/windows" "$address/api/windows"
measure "POST /mcp, list_windows" --script "$scratch/mcp.lua" "$address/mcp"
# A wait ends after a minute, so each measurement hangs its own.
for _ in $(seq "$rounds"); do
    hang_waits
    rounds=1 measure "GET /api/windows, $waits calls waiting" "$address/api/windows"
    let_waits_go
done
