// The inspector in a real browser: what a person does in the first minute, on a scenario.
//
//     node page.mjs SERVER [FOLDER]      pictures of every panel are kept in FOLDER
//
// Uses the system's chromium through playwright-core; axe-core judges accessibility.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const require = createRequire(join(process.env.NODE_PACKAGES ?? process.cwd(), "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const here = dirname(fileURLToPath(import.meta.url));
const [server, folder] = process.argv.slice(2);
const shots = folder ? resolve(folder) : mkdtempSync(join(tmpdir(), "oso-shots-"));
mkdirSync(shots, { recursive: true });
const TOKEN = "a-token-for-this-test-only";
const scenario = resolve(here, "../../scenarios/login.yaml");

let passed = 0;
let failed = 0;
function check(what, condition, detail = "") {
  if (condition) passed += 1;
  else {
    failed += 1;
    console.log(`FAILED: ${what} ${detail}`);
  }
}

/** The server with the page, and the link that it prints. MCP stays on its pipes, as an agent uses it. */
async function startServer(config) {
  const home = mkdtempSync(join(tmpdir(), "oso-page-"));
  const file = join(home, "config.json");
  writeFileSync(file, JSON.stringify({ ...config, tracing: { dir: join(home, "traces") }, web_ui: { token: TOKEN } }));
  const child = spawn(server, ["--mock", "--scenario", scenario, "--mode", "both", "--port", "0", "--config", file], {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, HOME: home, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home },
  });
  const answers = createInterface({ input: child.stdout });
  const waiting = new Map();
  answers.on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const errors = [];
  const link = await new Promise((found, refuse) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      errors.push(line);
      const match = /http:\/\/[^\s"]+/.exec(line);
      if (match) found(match[0]);
    });
    child.on("exit", () => refuse(new Error(`the server ended: ${errors.join("\n")}`)));
    setTimeout(() => refuse(new Error(`no link was printed: ${errors.join("\n")}`)), 20000).unref();
  });
  let number = 0;
  const ask = (method, params) =>
    new Promise((answer) => {
      number += 1;
      waiting.set(number, answer);
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: number, method, params })}\n`);
    });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page test", version: "1" } });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const call = (name, args = {}) => ask("tools/call", { name, arguments: args });
  const stop = () =>
    new Promise((gone) => {
      child.on("exit", () => {
        rmSync(home, { recursive: true, force: true });
        gone();
      });
      child.stdin.end();
    });
  return { link: `${link.replace(/[,#].*$/, "")}#token=${TOKEN}`, call, stop };
}

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
if (!browserPath) {
  console.log("chromium is missing");
  process.exit(77);
}
const browser = await chromium.launch({ executablePath: browserPath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });

async function open(link, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options });
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && !/status of (400|404)/.test(message.text()) && complaints.push(message.text()));
  page.on("pageerror", (problem) => complaints.push(String(problem)));
  await page.addInitScript(noteTimes);
  await page.goto(link);
  await page.waitForSelector("#windows button");
  await page.waitForFunction(() => document.querySelectorAll("#tree .row").length > 1);
  return { page, complaints };
}

/** Runs in the page: when the windows, the tree and the picture were shown, counted from the first byte. */
function noteTimes() {
  const parts = {
    windows: () => document.querySelector("#windows button"),
    tree: () => document.querySelectorAll("#tree .row").length > 1,
    picture: () => document.querySelector("#picture-image")?.naturalWidth > 0,
  };
  window.shownAfter = {};
  const timer = setInterval(() => {
    const now = performance.now() - performance.getEntriesByType("navigation")[0].responseStart;
    for (const [name, shown] of Object.entries(parts)) if (!(name in window.shownAfter) && shown()) window.shownAfter[name] = Math.round(now);
    if (Object.keys(window.shownAfter).length === 3) clearInterval(timer);
  }, 4);
}

async function shoot(page, name) {
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

async function judgeAccessibility(page, where) {
  // Evaluated by the tools of the browser, so that the page's own policy stays as strict as it is.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  const serious = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
  check(`accessible: ${where}`, serious.length === 0, JSON.stringify(serious.map((violation) => [violation.id, violation.nodes.slice(0, 3).map((node) => node.html)])));
}

async function looking() {
  const { link, call, stop } = await startServer({});
  const { page, complaints } = await open(link);
  await page.waitForFunction(() => "picture" in window.shownAfter);
  const shown = await page.evaluate(() => window.shownAfter);
  const weight = await page.evaluate(() => performance.getEntriesByType("resource").filter((entry) => !entry.name.includes("/api/")).reduce((sum, entry) => sum + entry.encodedBodySize, performance.getEntriesByType("navigation")[0].encodedBodySize));
  console.log(`page: ${Math.round(weight / 1024)} KB; shown after its first byte, ms: ${JSON.stringify(shown)}`);
  check("the elements do not wait for the picture", shown.tree <= shown.picture, JSON.stringify(shown));
  check("page weight", weight < 250 * 1024, String(weight));
  check("title", (await page.title()).includes("OS Screen Observer"));
  check("windows are listed", (await page.locator("#windows button").count()) >= 1);

  // The row, the box and the cell under the pointer belong together.
  await page.waitForFunction(() => document.querySelector("#picture-image").naturalWidth > 0);
  const image = await page.locator("#picture-image").boundingBox();
  const elements = await page.locator("#tree .row").count();
  check("the tree has rows", elements > 3, String(elements));
  await page.mouse.move(image.x + image.width / 2, image.y + image.height / 2);
  await page.waitForSelector("#tree .row.hovered");
  check("pointing at the picture lights a row", (await page.locator("#tree .row.hovered").count()) === 1);
  await shoot(page, "screenshot");
  await page.locator("#all-boxes").check();
  await shoot(page, "screenshot-boxes");
  await page.locator("#tab-sketch").click();
  await page.locator("#tree .row").nth(2).hover();
  check("pointing at a row lights a cell", await page.locator("#sketch-cell").isVisible());
  await shoot(page, "sketch");
  await judgeAccessibility(page, "sketch");

  // A selector finds while one types, and says why when it does not.
  await page.locator("#selector").fill("//Button");
  await page.waitForSelector("#matches button");
  await page.locator("#matches button").first().click();
  await page.waitForSelector("#detail .selector");
  check("a selected element has a selector", (await page.locator("#detail .selector").textContent()).length > 3);
  await page.waitForSelector("#run-click");
  await page.locator("#selector").fill("//Nope[");
  await page.waitForFunction(() => document.querySelector("#matches-note").textContent.includes("BadRequest"));
  await page.locator("#tab-screenshot").click();
  await shoot(page, "selected");
  await judgeAccessibility(page, "selected");

  await page.locator("#selector").fill("");

  // The tree by keyboard alone.
  await page.locator("#tree .row[tabindex='0']").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  check("the keyboard selects", (await page.locator("#tree .row.selected").getAttribute("data-id")) === "root.0");

  for (const tab of ["description", "actions", "traces"]) {
    await page.locator(`#tab-${tab}`).click();
    await page.waitForFunction((name) => document.querySelector(`#panel-${name}`).textContent.trim().length > 10, tab);
    await page.waitForTimeout(300);
    await shoot(page, tab);
    await judgeAccessibility(page, tab);
  }

  // What the agent does on its own pipes is seen here.
  await page.locator("#tab-screenshot").click();
  await call("set_value", { selector: '//Edit[name="Username"]', value: "alice" });
  await page.waitForSelector("#steps .step");
  const step = page.locator("#steps .step").first();
  check("the timeline names the tool", (await step.textContent()).includes("set_value"), await step.textContent());
  await step.click();
  await page.waitForSelector("#step-detail pre");
  check("a step shows its arguments", (await page.locator("#step-detail").textContent()).includes("alice"));
  await page.waitForFunction(() => document.querySelector("#tree").textContent.includes("alice"));
  await shoot(page, "timeline");
  await judgeAccessibility(page, "timeline");

  // Acting by hand goes through the same gate.
  await page.locator("#tab-actions").click();
  await page.locator('form:has(input[name="keys"]) input').fill("tab");
  await page.locator('form:has(input[name="keys"]) button').click();
  await page.waitForFunction(() => document.querySelector(".outcome").textContent.includes('"ok": true'));
  check("a key is pressed by hand", true);

  // The stop button.
  await page.locator("#halt").click();
  await page.waitForSelector("#halt[aria-pressed='true']");
  const refused = await call("type_text", { text: "x" });
  check("nothing acts while it is stopped", JSON.stringify(refused).includes("PermissionDenied"), JSON.stringify(refused).slice(0, 300));
  await page.waitForFunction(() => document.querySelector("#steps").textContent.includes("PermissionDenied"));
  await shoot(page, "stopped");
  await judgeAccessibility(page, "stopped");
  await page.locator("#halt").click();
  await page.waitForSelector("#halt[aria-pressed='false']");
  const went = await call("press_key", { keys: "tab" });
  check("and goes on afterwards", went.result?.structuredContent?.ok === true, JSON.stringify(went).slice(0, 300));

  // Recorded, and looked at in place.
  await call("trace_start", {});
  await call("press_key", { keys: "tab" });
  await call("trace_stop", {});
  await page.locator("#tab-traces").click();
  await page.waitForSelector(".traces button");
  await page.locator(".traces button").first().click();
  await page.waitForSelector(".trace-host");
  const traced = await page.evaluate(() => document.querySelector(".trace-host").shadowRoot.textContent);
  check("a trace is shown in place", traced.includes("press_key"), traced.slice(0, 200));
  check("a trace holds nothing of those who look on", !traced.includes("get_screenshot"));
  await shoot(page, "trace");

  check("no complaint on the console", complaints.length === 0, complaints.join(" | "));
  await page.close();

  const dark = await open(link, { colorScheme: "dark" });
  await shoot(dark.page, "dark");
  await judgeAccessibility(dark.page, "dark");
  await dark.page.close();
  const narrow = await open(link, { viewport: { width: 420, height: 800 } });
  await shoot(narrow.page, "narrow");
  await narrow.page.close();
  await stop();
}

async function approving() {
  const { link, call, stop } = await startServer({
    confirmation_required: [{ role: "Button", name_regex: ".*" }],
    confirmation: { mode: "inspector", ttl_seconds: 20 },
  });
  const { page, complaints } = await open(link);
  for (const [button, word, expected] of [["Deny", "denied", false], ["Approve once", "approved", true]]) {
    const answer = call("click_element", { selector: "//Button" });
    await page.waitForSelector(".approval");
    if (!expected) {
      await page.waitForTimeout(300);
      await shoot(page, "approval");
      await judgeAccessibility(page, "approval");
    }
    check("an approval says what would be touched", (await page.locator(".approval").textContent()).includes("Button"));
    await page.locator(".approval button", { hasText: button }).click();
    const reply = await answer;
    const ok = reply.result?.structuredContent?.ok ?? !reply.result?.isError;
    check(`a call that was ${word}`, ok === expected, JSON.stringify(reply).slice(0, 400));
    await page.waitForSelector("#approvals", { state: "hidden" });
  }
  check("no complaint on the console", complaints.length === 0, complaints.join(" | "));
  await page.close();
  await stop();
}

try {
  await looking();
  await approving();
} catch (problem) {
  failed += 1;
  console.log(`FAILED: ${problem.stack}`);
} finally {
  await browser.close();
}
console.log(`inspector page: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
