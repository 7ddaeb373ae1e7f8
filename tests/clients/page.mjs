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
async function startServer(config, { scripts = {}, env = {} } = {}) {
  const home = mkdtempSync(join(tmpdir(), "oso-page-"));
  const file = join(home, "config.json");
  mkdirSync(join(home, "scripts"));
  for (const [name, steps] of Object.entries(scripts)) writeFileSync(join(home, "scripts", name), JSON.stringify({ steps }));
  const jobs = { enabled: Object.keys(scripts).length > 0, dir: join(home, "jobs"), scripts: join(home, "scripts") };
  writeFileSync(file, JSON.stringify({ ...config, jobs: { ...jobs, ...config.jobs }, tracing: { dir: join(home, "traces") }, web_ui: { token: TOKEN } }));
  const child = spawn(server, ["--mock", "--scenario", scenario, "--mode", "both", "--port", "0", "--config", file], {
    stdio: ["pipe", "pipe", "pipe"],
    cwd: home,
    env: { ...process.env, HOME: home, XDG_STATE_HOME: home, XDG_RUNTIME_DIR: home, ...env },
  });
  const answers = createInterface({ input: child.stdout });
  const waiting = new Map();
  answers.on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  const errors = [];
  let listener = null;
  const link = await new Promise((found, refuse) => {
    let first = null;
    createInterface({ input: child.stderr }).on("line", (line) => {
      errors.push(line);
      listener ??= /ScreenJob-compatible API.* on port (\d+)/.exec(line)?.[1] ?? null;
      first ??= /http:\/\/[^\s"]+/.exec(line)?.[0] ?? null;
      if (first && (listener || !env.SCREENJOB_TOKEN)) found(first);
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
  const listenerLink = `http://127.0.0.1:${listener}/`;
  return { link: `${link.replace(/[,#].*$/, "")}#token=${TOKEN}`, listenerLink, call, stop };
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
  page.on("console", (message) => message.type() === "error" && !/status of (400|404|409)/.test(message.text()) && complaints.push(message.text()));
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

const MARKUP = `<img src=x onerror="document.title='run'"><script>document.title='run'</script> say <b>hello</b>`;
const WIDTHS = [360, 768, 1280];
const set = (value) => ({ call: "set_value", args: { selector: 'Edit[name="Username"]', value } });
const SCRIPTS = {
  // It asks before the second input, and its result fits its schema.
  "asks.yaml": [set(MARKUP), { call: "click_element", args: { selector: 'Button[name="Login"]' } }, { call: "get_screenshot" }, { finish: { said: MARKUP } }],
  "one.yaml": [{ finish: { n: 1 } }],
  // It goes on for as long as anybody looks.
  "long.yaml": [set("alice"), ...Array.from({ length: 400 }, (_, index) => ({ call: "wait_idle", args: { quiet_ms: 50 + index, timeout_ms: 5000 } })), { finish: {} }],
};

/** Nothing stands out beyond the page, at every width. */
async function judgeWidths(page, name) {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(100);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`${name} fits into ${width} pixels`, over <= 0, `${over} pixels stand out`);
    await shoot(page, `${name}-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

const statusIs = (page, word) => page.waitForFunction((word) => document.querySelector("#job-facts .status")?.textContent === word, word);
const press = (page, action) => page.locator(`#job-buttons [data-action="${action}"]`).click();

async function makeJob(page, spec) {
  if (!(await page.locator(".job-form").isVisible())) await page.locator(".job-new summary").click();
  for (const [name, value] of Object.entries(spec)) {
    const input = page.locator(`.job-form [name="${name}"]`);
    if (value === true) await input.check();
    else await input.fill(value);
  }
  await page.locator('.job-form button[type="submit"]').click();
  await page.waitForFunction((goal) => document.querySelector("#job-title")?.textContent === goal, spec.job);
}

async function workingJobs() {
  const rules = { confirmation_required: [{ name_regex: "Login" }], confirmation: { mode: "inspector", ttl_seconds: 60 } };
  const { link, listenerLink, call, stop } = await startServer(rules, { scripts: SCRIPTS, env: { SCREENJOB_TOKEN: TOKEN, SCREENJOB_PORT: "0", OSO_SCREENJOB__ENABLED: "true" } });
  const { page, complaints } = await open(link);
  await page.locator("#tab-jobs").click();
  await page.waitForFunction(() => document.querySelector("#jobs-live").textContent === "live");
  await page.waitForFunction(() => document.querySelector("#jobs-note").textContent === "No jobs yet.");

  // Refused in the words of the server.
  await page.locator(".job-new summary").click();
  await page.locator('.job-form [name="job"]').fill("x");
  await page.locator('.job-form [name="planner"]').fill("scripted:nowhere.yaml");
  await page.locator('.job-form button[type="submit"]').click();
  await page.waitForFunction(() => document.querySelector(".job-form .note").textContent.includes("nowhere.yaml"));
  await judgeAccessibility(page, "a new job");
  await judgeWidths(page, "job-form");

  // A job that asks: seen, answered, recorded. Everything in it is markup, and none of it becomes any.
  await makeJob(page, { job: MARKUP, planner: "scripted:asks.yaml", max_steps: "20", timeout: "60", record: true });
  await page.waitForSelector(".job-question");
  await statusIs(page, "input required");
  check("what it asks is asked once", !(await page.locator("#approvals").isVisible()));
  check("its input is in the timeline", (await page.locator("#job-events").textContent()).includes("set_value"));
  await judgeAccessibility(page, "a job that asks");
  await judgeWidths(page, "job-asks");
  await page.locator("#tab-screenshot").click();
  await page.waitForSelector("#approvals .approval");
  await page.locator("#tab-jobs").click();
  await page.waitForSelector("#approvals", { state: "hidden" });
  await page.locator(".job-question button", { hasText: "Approve" }).click();
  await statusIs(page, "succeeded");
  await page.waitForFunction(() => document.querySelectorAll(".job-files li, .job-pictures figure").length > 0);
  const pictures = await page.locator(".job-pictures img").count();
  if (pictures) {
    await page.locator(".job-pictures").scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector(".job-pictures img").naturalWidth > 0);
  }
  check("a recorded job has screenshots", pictures > 0);
  check("its result is shown as text", (await page.locator("#job-result pre").textContent()).includes("onerror"));
  check("its goal is text", (await page.locator("#job-title").textContent()) === MARKUP);
  check("no markup of a job became any", (await page.locator("#job img:not(.job-pictures img), #job b, #job script").count()) === 0 && !(await page.title()).includes("run"));
  await page.locator("#job-events summary").first().click();
  const details = () => document.querySelector("#job-events pre")?.textContent.includes('"seq"');
  check("an event shows its details", await page.waitForFunction(details, null, { timeout: 10000 }).then(() => true, () => false));
  await judgeAccessibility(page, "a job that is over");
  await judgeWidths(page, "job-over");

  // What an agent makes is listed as it is made, and says whether its result fits.
  await call("run_job", { job: "count to one", planner: "scripted:one.yaml", output_schema: { type: "object", required: ["n"] } });
  await page.locator(".job-entry", { hasText: "count to one" }).click();
  await statusIs(page, "succeeded");
  check("the schema's verdict", (await page.locator("#job-result .badge").textContent()) === "fits the schema");

  // A long one: live, paused, resumed, taken over, given back, cancelled, all by keyboard reach.
  await makeJob(page, { job: "wait for a while", planner: "scripted:long.yaml" });
  await statusIs(page, "running");
  const rows = () => page.locator("#job-events li").count();
  await page.waitForFunction(() => document.querySelectorAll("#job-events li").length > 6);
  await press(page, "pause");
  await statusIs(page, "paused");
  const paused = await rows();
  await judgeWidths(page, "job-paused");
  check("a paused job is quiet", (await rows()) <= paused + 1);
  await page.locator('#job-buttons [data-action="resume"]').focus();
  await page.keyboard.press("Enter");
  await statusIs(page, "running");
  await press(page, "takeover");
  await statusIs(page, "taken over");
  await press(page, "release");
  await statusIs(page, "running");

  // The listener's page: asks first, shows then, changes nothing.
  const watcher = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const asked = [];
  watcher.on("request", (request) => asked.push(request.url()));
  await watcher.goto(listenerLink);
  await watcher.waitForSelector("#token-form:not([hidden])");
  await judgeWidths(watcher, "listener-token");
  check("nothing is asked for without the token", !asked.some((url) => /\/(api|ws)/.test(url)), asked.join(" "));
  await watcher.locator("#token").fill("wrong-token");
  await watcher.keyboard.press("Enter");
  await watcher.waitForFunction(() => document.querySelector("#token-said").textContent.includes("token"));
  check("a wrong token shows nothing", !(await watcher.locator("#job-view").isVisible()));
  await watcher.locator("#token").fill(TOKEN);
  await watcher.keyboard.press("Enter");
  await statusIs(watcher, "running");
  await watcher.waitForFunction(() => document.querySelector("#jobs-live").textContent === "live");
  const seen = await watcher.locator("#job-events li").count();
  await watcher.waitForFunction((seen) => document.querySelectorAll("#job-events li").length > seen, seen);
  check("the listener's page has no buttons for jobs", (await watcher.locator("#job button:visible, .job-form").count()) === 0);
  await judgeAccessibility(watcher, "listener");
  await judgeWidths(watcher, "listener");
  check("the token is in no address", !asked.some((url) => url.includes(TOKEN)), asked.join(" "));

  await press(page, "cancel");
  await statusIs(page, "cancelled");
  await statusIs(watcher, "cancelled");
  check("a job that is over has no buttons", (await page.locator("#job-buttons button").count()) === 0);

  // Nobody does anything: nothing is asked.
  const idle = [];
  await page.waitForTimeout(1000);
  page.on("request", (request) => idle.push(request.url()));
  asked.length = 0;
  await page.waitForTimeout(4000);
  check("an idle view asks for nothing", idle.length === 0 && asked.length === 0, [...idle, ...asked].join(" "));

  const dark = await open(link, { colorScheme: "dark" });
  await dark.page.locator("#tab-jobs").click();
  await statusIs(dark.page, "cancelled");
  await shoot(dark.page, "jobs-dark");
  await judgeAccessibility(dark.page, "jobs, dark");
  check("no complaint on the console", [...complaints, ...dark.complaints].length === 0, [...complaints, ...dark.complaints].join(" | "));
  for (const one of [page, watcher, dark.page]) await one.close();
  await stop();
}

try {
  await looking();
  await approving();
  await workingJobs();
} catch (problem) {
  failed += 1;
  console.log(`FAILED: ${problem.stack}`);
} finally {
  await browser.close();
}
console.log(`inspector page: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
