#!/usr/bin/env bash
# Goes through a real dialog by curl alone, as a client of Clickthrough does: see, zoom, act once, see again.
#
#     clickthrough.sh [SERVER]       (or SERVER_UNDER_TEST; default: the release build)
#
# The server starts a private desktop with a dialog of zenity in it; nothing else is touched. With TRANSCRIPT=FILE the
# requests and the answers are written there, pictures shortened; docs/clickthrough.md was made so.
set -euo pipefail

project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
server="${1:-${SERVER_UNDER_TEST:-$project/target/release/os-screen-observer}}"
for needed in "$server" curl python3 zenity Xvfb; do
    if ! command -v "$needed" >/dev/null; then
        echo "clickthrough.sh: cannot run $needed" >&2
        exit 1
    fi
done

scratch="$(mktemp -d)"
child=""
finish() {
    [ -z "$child" ] || kill "$child" 2>/dev/null || true
    [ -z "$child" ] || wait "$child" 2>/dev/null || true
    rm -rf "$scratch"
}
trap finish EXIT
transcript="${TRANSCRIPT:-$scratch/transcript}"
: >"$transcript"

port="$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
mkfifo "$scratch/stdin"
CLICKTHROUGH_PORT="$port" OSO_TRACING__DIR="$scratch/traces" "$server" --mode inspect --port 0 --log info \
    --sandbox zenity -- --question --title=Harbour "--text=Shall the lights go on?" --ok-label=Lantern --cancel-label=Darkness \
    >"$scratch/out" 2>"$scratch/err" <"$scratch/stdin" &
child=$!
exec 9>"$scratch/stdin"

# ask METHOD PATH [BODY]: one request; the answer stays in $scratch/answer.
ask() {
    local body=("${@:3}")
    curl --silent --show-error --max-time 90 --request "$1" "http://127.0.0.1:$port$2" \
        ${body:+--header "Content-Type: application/json" --data "${body[0]}"} >"$scratch/answer"
}

# told METHOD PATH [BODY]: the same, and both go into the transcript.
told() {
    ask "$@"
    python3 - "$scratch/answer" "$@" >>"$transcript" <<'PYTHON'
import json, sys
answer = json.load(open(sys.argv[1]))
method, path, body = sys.argv[2], sys.argv[3], sys.argv[4:]

def short(value):
    if isinstance(value, dict):
        return {name: short(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [short(inner) for inner in value[:6]] + (["…"] if len(value) > 6 else [])
    if isinstance(value, str) and len(value) > 200:
        return f"{value[:24]}… ({len(value)} characters)"
    return value

def pretty(value, indent=""):
    line = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(line) + len(indent) <= 110:
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(name)}: {pretty(part, inner)}" for name, part in value.items()]
    else:
        parts = [inner + pretty(part, inner) for part in value]
    ends = "{}" if isinstance(value, dict) else "[]"
    return ends[0] + "\n" + ",\n".join(parts) + "\n" + indent + ends[1]

data = f" -H 'Content-Type: application/json' -d '{body[0]}'" if body else ""
print(f"```sh\ncurl -X {method} 'http://127.0.0.1:8123{path}'{data}\n```\n")
print("```json\n" + pretty(short(answer)) + "\n```\n")
PYTHON
}

# of EXPRESSION: a Python expression over the `data` of the last answer.
of() {
    python3 -c 'import json, sys
answer = json.load(open(sys.argv[1]))
data = answer["data"]
print(eval(sys.argv[2]))' "$scratch/answer" "$1"
}

# holds WHAT EXPRESSION: it has to be true.
holds() {
    if [ "$(of "bool($2)")" != True ]; then
        echo "FAILED [clickthrough] $1: not so: $2" >&2
        head -c 1500 "$scratch/answer" >&2
        tail -n 5 "$scratch/err" >&2
        exit 1
    fi
    echo "ok: $1"
}

# until WHAT EXPRESSION METHOD PATH [BODY]: asked until it is true.
until_holds() {
    local what="$1" expression="$2"
    shift 2
    for _ in $(seq 120); do
        if ask "$@" 2>/dev/null && [ "$(of "bool($expression)" 2>/dev/null)" = True ]; then
            echo "ok: $what"
            return
        fi
        sleep 0.5
    done
    holds "$what" "$expression"
}

until_holds "the server answers" 'data["status"] == "ok"' GET /health
until_holds "the dialog is there" 'data["count"] == 1' GET "/windows?title_contains=Harbour"
until_holds "its label can be read" 'data["count"] >= 1' POST /ocr/find '{"text":"Lantern"}'

told GET /health
told GET "/windows?title_contains=Harbour"
holds "the window is the dialog" 'data["windows"][0]["title"] == "Harbour"'

told POST /see '{"ocr":true,"grid_rows":10,"grid_cols":16}'
holds "the picture has a grid" 'data["meta"]["grid"]["rows"] == 10 and data["image"]["base64"]'
button="$(of '[item["center"] for item in data["meta"]["ocr"]["items"] if item["text"] == "Lantern"][0]')"
x="$(python3 -c "print($button['x'])")"
y="$(python3 -c "print($button['y'])")"
region="$(of '"{x} {y} {width} {height}".format(**data["meta"]["region"])')"
read -r rx ry rw rh <<<"$region"

told POST /see/zoom "{\"center_x\":$x,\"center_y\":$y,\"width\":240,\"height\":120}"
holds "the close look has a finer grid" 'data["meta"]["grid"]["cols"] == 20'

# Two signals have to agree before the click: the cell of the grid, and the text that is read in it.
cell="$(python3 -c "
x, y, rx, ry, rw, rh = $x, $y, $rx, $ry, $rw, $rh
col, row = int((x - rx) * 16 / rw), int((y - ry) * 10 / rh)
dx, dy = ((x - rx) * 16 / rw - col) * 2 - 1, ((y - ry) * 10 / rh - row) * 2 - 1
print(f'\"rows\":10,\"cols\":16,\"row\":{row},\"col\":{col},\"dx\":{dx:.2f},\"dy\":{dy:.2f}')")"
target="{\"mode\":\"grid\",\"region_x\":$rx,\"region_y\":$ry,\"region_width\":$rw,\"region_height\":$rh,$cell}"
told POST /interact "{\"action\":{\"action\":\"click\",\"target\":$target,\"dry_run\":true}}"
holds "nothing was done yet" 'data["executed"] == False'
holds "the cell leads to the text" "abs(data['resolved_target']['x'] - $x) < 8 and abs(data['resolved_target']['y'] - $y) < 8"

told POST /interact '{"action":{"action":"click_text","click_text":{"text":"Lantern","match":"exact"}}}'
holds "the button was clicked" 'data["executed"] and data["click_text_match"]["text"] == "Lantern"'

told POST /wait '{"kind":"window","title_contains":"Harbour","state":"closed","timeout_ms":20000}'
holds "the dialog went away" 'data["satisfied"]'

told POST /see '{"ocr":true,"with_grid":false}'
holds "its text is not on the screen any more" 'not any(item["text"] == "Lantern" for item in data["meta"]["ocr"]["items"])'

told POST /interact '{"action":{"action":"click_text","click_text":{"text":"Lantern"}}}'
python3 - "$scratch/answer" <<'PYTHON'
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["error"]["code"] == "ocr_text_not_found", answer
print("ok: what is gone cannot be clicked")
PYTHON
echo "passed: clickthrough.sh"
