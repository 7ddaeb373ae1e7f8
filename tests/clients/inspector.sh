#!/usr/bin/env bash
# Tests the server through the MCP Inspector's command line, in both protocol eras.
#
#     inspector.sh [SERVER]          (or SERVER_UNDER_TEST; default: the release build)
#
# INSPECTOR_BIN names the folder with `mcp-inspector` and a `node` that is new enough for it
# (node_modules/.bin after `npm install` in this folder); without it both are taken from PATH.
set -euo pipefail

project="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
server="${1:-${SERVER_UNDER_TEST:-$project/target/release/os-screen-observer}}"
[ -z "${INSPECTOR_BIN:-}" ] || PATH="$INSPECTOR_BIN:$PATH"

for needed in "$server" mcp-inspector node; do
    if ! command -v "$needed" >/dev/null; then
        echo "inspector.sh: cannot run $needed" >&2
        exit 1
    fi
done

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
# A scenario is named relative to the project, and the Inspector must not touch the person's own settings.
cd "$project"
export MCP_CATALOG_PATH="$scratch/catalog.json"

passed=0
failed=0

# inspect STATUS ARGUMENT...: runs the Inspector on the mock and says whether it ended with STATUS.
# The output stays in $scratch/out and $scratch/err for the checks that follow.
inspect() {
    local expected="$1" status=0
    shift
    mcp-inspector --cli "$server" --mode mcp --mock "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    label="$*"
    record "exit status $expected" "$([ "$status" -eq "$expected" ] && echo true)" "it was $status"
}

# holds WHAT EXPRESSION: a JavaScript expression over the JSON `out` of the last run has to be true.
holds() {
    local verdict
    verdict="$(OUT="$scratch/out" node -e '
        const out = JSON.parse(require("fs").readFileSync(process.env.OUT, "utf8"));
        console.log(Boolean(eval(process.argv[1])));' -- "$2" 2>&1 | tail -n 1)" || verdict=unreadable
    record "$1" "$verdict" "not so: $2"
}

record() {
    if [ "$2" = true ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "FAILED [inspector $label] $1: $3"
    head -c 600 "$scratch/out" | sed 's/^/    stdout: /'
    tail -n 5 "$scratch/err" | cut -c 1-400 | sed 's/^/    stderr: /'
}

no_warnings() {
    record "no warnings" "$(grep -Eq '^(Warning|Error): tool|[0-9]+ warnings? across' "$scratch/err" || echo true)" "it warns"
}

for era in legacy modern; do
    case $era in
        legacy) revision=2025-11-25 ;;
        modern) revision=2026-07-28 ;;
    esac

    inspect 0 --method initialize --protocol-era "$era" --format json
    holds "the server names itself" 'out.result.serverInfo.name === "os-screen-observer"'
    holds "it speaks $revision" "out.result.protocolVersion === '$revision'"
    holds "it offers tools" 'out.result.capabilities.tools'

    inspect 0 --method tools/list --strict --protocol-era "$era" --format json
    no_warnings
    holds "tools are listed" 'out.result.tools.length >= 19'

    inspect 0 --method tools/call --tool-name list_windows --protocol-era "$era" --format json
    holds "three windows" 'out.result.structuredContent.count === 3'

    inspect 0 --method tools/call --tool-name click_at --tool-arg x=100 y=100 --protocol-era "$era" --format json
    holds "the click is reported" 'out.result.structuredContent.action === "click_at"'

    inspect 0 --method tools/call --tool-name get_screenshot --tool-args-json '{"window_index":0}' --protocol-era "$era" --format json
    holds "an image block" 'out.result.content.some(block => block.type === "image" && block.mimeType === "image/png")'

    inspect 5 --method tools/call --tool-name type_text --tool-args-json '{}' --protocol-era "$era" --format json
    holds "the error has an envelope" 'out.result.isError && /"code":\s*"BadRequest"/.test(out.result.content[0].text)'

    inspect 5 --method tools/call --tool-name no_such_tool --protocol-era "$era" --format json

    inspect 0 --scenario scenarios/login.yaml --method resources/list --protocol-era "$era" --format json
    holds "a window has its resources" 'out.result.resources.some(one => one.uri === "screen://window/mock%3Aapp/outline")'

    inspect 0 --method resources/templates/list --protocol-era "$era" --format json
    holds "two templates" 'out.result.resourceTemplates.length === 2'

    inspect 0 --scenario scenarios/login.yaml --method resources/read --uri screen://window/mock:app/outline \
        --protocol-era "$era" --format json
    holds "the outline" '/Edit "Username"/.test(out.result.contents[0].text)'

    inspect 0 --method prompts/get --prompt-name fill_in_form --prompt-args "values=Name: Ada" --protocol-era "$era" --format json
    holds "the values" '/Name: Ada/.test(out.result.messages[0].content.text)'

    inspect 0 --method tools/list --app-info --protocol-era "$era" --format json
    record "an app is found" "$(grep -q 'ui://os-screen-observer/window' "$scratch/out" && echo true)" "it is not named"

    inspect 0 --method tools/call --tool-name get_monitors --load --load-requests 500 --load-concurrency 10 \
        --protocol-era "$era" --format json
    holds "every call of the load run succeeds" 'out.result.ok === 500 && out.result.errors === 0 && out.result.toolErrors === 0'
done

inspect 0 --scenario scenarios/login.yaml --method tools/call --tool-name list_windows --format json
holds "the scenario's window" 'out.result.structuredContent.windows[0].title === "Acme Login"'

echo "inspector: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
