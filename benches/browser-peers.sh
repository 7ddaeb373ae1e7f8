#!/usr/bin/env bash
# Installs the browser servers that benches/browser.py compares with, from npm and PyPI, into FOLDER.
#
#     benches/browser-peers.sh FOLDER
set -eu
mkdir -p "$1"/{home,npm,ab}
cd "$1"
export PUPPETEER_SKIP_DOWNLOAD=1 PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
for place in npm ab; do [ -f "$place/package.json" ] || echo '{"private":true}' >"$place/package.json"; done
(cd npm && npm install --no-audit --no-fund --ignore-scripts @playwright/mcp chrome-devtools-mcp)
(cd ab && npm install --no-audit --no-fund --ignore-scripts --force agent-browser@0.41.0)
chmod +x ab/node_modules/agent-browser/bin/agent-browser-linux-x64
[ -d bu ] || python3 -m venv bu
bu/bin/pip install -q browser-use
