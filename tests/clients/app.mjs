// The page that clients show beside a picture, in a real browser, with a host that does what the MCP Apps extension
// asks of one and no more: the page in a sandboxed frame with the default policy, messages by postMessage, and
// calls handed on to the built server.
//
//     node app.mjs SERVER [FOLDER]      pictures are kept in FOLDER
//
// Uses the system's chromium through playwright-core; axe-core judges accessibility.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.env.NODE_PACKAGES ?? process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [server, folder] = process.argv.slice(2);
const shots = folder ? resolve(folder) : mkdtempSync(join(tmpdir(), "oso-app-"));
mkdirSync(shots, { recursive: true });

let passed = 0;
let failed = 0;
function check(what, condition, detail = "") {
  if (condition) passed += 1;
  else {
    failed += 1;
    console.log(`FAILED: ${what} ${detail}`);
  }
}

// A window whose texts try to be markup, script and a line of their own.
const HOSTILE = '<img src=x onerror="window.top.postMessage(1)"><script>alert(1)</script>';
const SCENARIO = JSON.stringify({
  name: "hostile",
  states: {
    only: {
      windows: [
        {
          uid: "mock:app",
          title: `Shop ${HOSTILE}`,
          bounds: { x: 100, y: 50, width: 400, height: 300 },
          tree: {
            role: "Window",
            name: "Shop",
            bounds: { x: 100, y: 50, width: 400, height: 300 },
            children: [
              { role: "Button", name: HOSTILE, id: "b", bounds: { x: 120, y: 80, width: 200, height: 30 } },
              { role: "Edit", name: "Name", id: "n", value: '"quoted" @1,2 3x4', bounds: { x: 120, y: 130, width: 200, height: 30 } },
              { role: "CheckBox", name: "Gift", id: "g", bounds: { x: 120, y: 180, width: 90, height: 20 } },
            ],
          },
        },
      ],
    },
  },
});

/** The built server on its pipes. */
async function startServer() {
  const home = mkdtempSync(join(tmpdir(), "oso-app-"));
  const scenario = join(home, "hostile.yaml");
  writeFileSync(scenario, SCENARIO);
  const child = spawn(server, ["--mock", "--scenario", scenario, "--mode", "mcp"], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, HOME: home, XDG_STATE_HOME: home, OSO_TRACING__DIR: join(home, "traces") },
  });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let number = 0;
  const ask = (method, params) =>
    new Promise((answer) => {
      number += 1;
      waiting.set(number, answer);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: number, method, params })}\n`);
    });
  const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "app test", version: "1" } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const stop = () =>
    new Promise((gone) => {
      child.on("exit", () => {
        rmSync(home, { recursive: true, force: true });
        gone();
      });
      child.stdin.end();
    });
  return { ask, stop };
}

/** Runs in the host's page: frames the app, answers its greeting, and hands its calls on. */
function host({ html, tool, args, result, context, capabilities }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.style.cssText = "width: 640px; height: 620px; border: 0";
  // The policy that a host must use for a page that asks for nothing.
  const policy =
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";
  frame.srcdoc = html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`);
  window.heard = [];
  const post = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  window.post = post;
  addEventListener("message", async ({ source, data }) => {
    if (source !== frame.contentWindow) return window.heard.push("a stranger");
    window.heard.push(data.method ?? `answer ${data.id}`);
    if (data.method === "ui/initialize") {
      window.greeting = data.params;
      const hostContext = { theme: "light", toolInfo: { tool: { name: tool, inputSchema: { type: "object" } } }, ...context };
      post({ id: data.id, result: { protocolVersion: data.params.protocolVersion, hostInfo: { name: "test", version: "1" }, hostCapabilities: capabilities, hostContext } });
    } else if (data.method === "ui/notifications/initialized") {
      post({ method: "ui/notifications/tool-input", params: { arguments: args } });
      post({ method: "ui/notifications/tool-result", params: result });
    } else if (data.method === "ui/notifications/size-changed") {
      window.size = data.params;
    } else if (data.method === "tools/call") {
      const answer = await window.handOn(data.params);
      post({ id: data.id, ...(answer.error ? { error: answer.error } : { result: answer.result }) });
    }
  });
  document.body.append(frame);
}

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
if (!browserPath) {
  console.log("chromium is missing");
  process.exit(77);
}
const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

async function open(mcp, { capabilities = { serverTools: {} }, context = {}, ...options } = {}) {
  const page = await browser.newPage({ viewport: { width: 700, height: 660 }, ...options });
  const complaints = [];
  const requests = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (problem) => complaints.push(String(problem)));
  page.on("dialog", (dialog) => complaints.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  page.on("request", (request) => /^https?:/.test(request.url()) && requests.push(request.url()));
  const calls = [];
  await page.exposeFunction("handOn", (params) => {
    calls.push(params);
    return mcp.ask("tools/call", params);
  });
  const { tools } = (await mcp.ask("tools/list", {})).result;
  const tool = tools.find((one) => one.name === "get_screenshot");
  const { contents } = (await mcp.ask("resources/read", { uri: tool._meta.ui.resourceUri })).result;
  const args = { window_uid: "mock:app" };
  const result = (await mcp.ask("tools/call", { name: tool.name, arguments: args })).result;
  await page.evaluate(host, { html: contents[0].text, tool: tool.name, args, result, context, capabilities });
  const frame = page.frames().find((one) => one !== page.mainFrame()) ?? (await page.waitForEvent("frameattached"));
  return { page, frame, complaints, requests, calls };
}

async function judgeAccessibility(frame, where) {
  await frame.evaluate(axe);
  const { violations } = await frame.evaluate(() => window.axe.run());
  const serious = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
  check(`accessible: ${where}`, serious.length === 0, JSON.stringify(serious.map((violation) => [violation.id, violation.nodes.slice(0, 3).map((node) => node.html)])));
}

async function looking(mcp) {
  const { page, frame, complaints, requests, calls } = await open(mcp);
  await frame.waitForSelector(".box");
  const greeting = await page.evaluate(() => window.greeting);
  check("the page greets as the extension says", greeting.protocolVersion === "2026-01-26" && greeting.appInfo.name && greeting.appCapabilities, JSON.stringify(greeting));
  check("the picture is shown", await frame.evaluate(() => document.getElementById("picture").naturalWidth === 400));
  check("a box for each element that can be acted on", (await frame.locator(".box").count()) === 3);
  check("the page told its size", (await page.evaluate(() => window.size?.height)) > 100);

  // Texts stay texts.
  const title = await frame.locator("h1").textContent();
  check("a hostile title is a text", title.includes("<script>alert(1)</script>"), title);
  check("nothing of it became markup", (await frame.locator("h1 *, #detail img, #detail script, .box *").count()) === 0);

  // A box lies over what it is about: the picture begins at 100,50 of the screen.
  const picture = await frame.locator("#picture").boundingBox();
  const scale = picture.width / 400;
  const box = await frame.locator('.box[data-index="1"]').boundingBox();
  const near = (one, other) => Math.abs(one - other) <= 1.5;
  check("a box is where its element is", near(box.x - picture.x, 20 * scale) && near(box.y - picture.y, 80 * scale) && near(box.width, 200 * scale), JSON.stringify({ picture, box }));

  await frame.locator('.box[data-index="1"]').hover();
  const detail = await frame.locator("#detail").textContent();
  check("pointing shows ref, role and name", /^e\d+ Edit “Name”/.test(detail) && detail.includes("at 120,130, 200×30"), detail);
  await page.screenshot({ path: join(shots, "app-hover.png") });

  await frame.locator('.box[tabindex="0"]').focus();
  await page.keyboard.press("Home");
  check("the keyboard chooses the first", (await frame.locator("#detail").textContent()).includes("Button “<img"), await frame.locator("#detail").textContent());
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  check("and goes on from there", (await frame.locator("#detail").textContent()).includes("CheckBox “Gift”"));
  await page.keyboard.press("ArrowDown");
  check("and around", (await frame.locator(".box:focus").getAttribute("data-index")) === "0");
  await judgeAccessibility(frame, "light");

  // Looking again calls the same tool with the same arguments.
  await mcp.ask("tools/call", { name: "set_value", arguments: { selector: '//Edit[name="Name"]', value: "Ada" } });
  const before = calls.length;
  await frame.locator("#refresh").click();
  await frame.waitForFunction(() => document.getElementById("note").textContent === "" && !document.getElementById("refresh").disabled);
  const made = calls.slice(before);
  check("the page looks again", made[0]?.name === "get_screenshot" && made[0]?.arguments.window_uid === "mock:app" && made[1]?.name === "get_window_structure", JSON.stringify(made));
  await frame.locator('.box[data-index="1"]').hover();
  check("what is new is shown", (await frame.locator("#detail").textContent()).includes("=Ada"), await frame.locator("#detail").textContent());
  await frame.locator("#all").uncheck();
  check("boxes can be hidden", await frame.evaluate(() => document.getElementById("stage").classList.contains("bare")));

  // Requests of the host are answered, and messages of others are not heard.
  await page.evaluate(() => window.post({ id: "t1", method: "ui/resource-teardown", params: {} }));
  await page.waitForFunction(() => window.heard.includes("answer t1"));
  await frame.evaluate(() => window.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-cancelled", params: {} }, "*"));
  await page.waitForTimeout(100);
  check("only the host is heard", (await frame.locator("#note").textContent()) === "");
  await page.evaluate(() => window.post({ method: "ui/notifications/host-context-changed", params: { theme: "dark" } }));
  await frame.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await frame.locator("#all").check();
  await judgeAccessibility(frame, "dark");
  await page.screenshot({ path: join(shots, "app-dark.png") });
  check("nothing was loaded", requests.length === 0, requests.join(" "));
  check("no complaint on the console", complaints.length === 0, complaints.join(" | "));
  await page.close();
}

async function alone(mcp) {
  const { page, frame, complaints, calls } = await open(mcp, { capabilities: {} });
  await frame.waitForFunction(() => document.getElementById("picture").naturalWidth === 400);
  await frame.waitForFunction(() => document.getElementById("note").textContent.includes("does not let"));
  check("a host that hands nothing on still shows the picture", calls.length === 0 && (await frame.locator("#refresh").isDisabled()));
  await page.evaluate(() => window.post({ method: "ui/notifications/tool-result", params: { isError: true, content: [{ type: "text", text: '{"ok":false,"error":{"message":"the window <b>is</b> gone"}}' }] } }));
  await frame.waitForFunction(() => document.getElementById("note").textContent === "the window <b>is</b> gone");
  check("an error is said", true);
  await page.screenshot({ path: join(shots, "app-error.png") });
  check("no complaint on the console", complaints.length === 0, complaints.join(" | "));
  await page.close();
}

const mcp = await startServer();
try {
  await looking(mcp);
  await alone(mcp);
} catch (problem) {
  failed += 1;
  console.log(`FAILED: ${problem.stack}`);
} finally {
  await browser.close();
  await mcp.stop();
}
console.log(`window page: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
