// Agent activity, as it happens: tool, target, verdict, time, tokens, and what each step changed.

import { get, listen, tool } from "./server.js";
import { $, calmly, h, replace, shorten } from "./dom.js";
import { on, state, tell } from "./store.js";
import { elementById, label, look } from "./view.js";

const MOST_STEPS = 300;
/** The tree that changes are told against, for each window. */
const baselines = new Map();
const shown = new Set();
let lastSeen = 0;
const lookSoon = calmly(150, () => $("auto-refresh").checked && look());

export function start() {
  listen(receive, (words) => ($("live").textContent = words));
  on("look", (seen) => seen?.picture && keepBaseline(seen.window.window_uid));
}

function receive(kind, data) {
  if (kind === "hello") readMissed(data);
  else if (kind === "call") addCall(data);
  else if (kind === "windows" || kind === "changed") lookSoon();
  else if (kind === "approval" || kind === "approval_closed") tell("approval", data);
  else if (kind === "halt") tell("halt", data);
  else if (kind === "resync") {
    add(h("li", { class: "gap" }, "Some events were left out here: this page was too slow."));
    tell("resync");
    lookSoon();
  }
}

/** What happened before this page was there, or while it was not connected. */
async function readMissed(hello) {
  tell("halt", hello.halt);
  tell("approval", hello.approvals);
  const { calls = [] } = await get(`/api/calls?after=${lastSeen}`);
  for (const call of calls) addCall(call, true);
  lastSeen = Math.max(lastSeen, hello.last_event ?? 0);
}

function addCall(call, late = false) {
  // What this page asks for itself would drown what the agent does.
  if (call.origin === "inspector" && !call.acts) return;
  if (shown.has(call.step_id)) return;
  shown.add(call.step_id);
  const verdict = call.ok ? (call.acts && call.changed === false ? "nothing changed" : "ok") : (call.code ?? "failed");
  const button = h(
    "button",
    { type: "button", class: call.ok ? "step" : "step bad" },
    h("span", { class: "step-number" }, `#${call.step_id ?? "–"}`),
    h("span", { class: "step-tool" }, call.tool),
    h("span", { class: "step-target" }, shorten(targetOf(call), 60)),
    h("span", { class: "step-verdict" }, verdict),
    h("span", { class: "note" }, `${duration(call.duration_ms)} · ${call.tokens ?? 0} tokens · ${call.origin ?? ""}`),
  );
  const entry = { call, changes: null };
  button.addEventListener("click", () => showStep(entry, button));
  add(h("li", {}, button));
  if (late) return;
  if (call.acts && call.ok) entry.changes = changesSince();
  lookSoon();
}

function add(item) {
  const list = $("steps");
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
  list.append(item);
  while (list.childElementCount > MOST_STEPS) list.firstElementChild.remove();
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function targetOf(call) {
  const args = call.args ?? {};
  const target = call.result?.target;
  return target?.selector || args.selector || args.element_id || args.text || args.keys || args.window_uid || (args.x !== undefined ? `${args.x},${args.y}` : "");
}

function duration(ms) {
  if (ms === undefined || ms === null) return "";
  return ms < 1000 ? `${Math.round(ms * 10) / 10} ms` : `${(ms / 1000).toFixed(1)} s`;
}

async function keepBaseline(uid) {
  if (baselines.has(uid)) return;
  baselines.set(uid, null);
  const seen = await tool("observe_window", { window_uid: uid });
  if (seen.ok) baselines.set(uid, seen.tree_token);
  else baselines.delete(uid);
}

/** What differs in the selected window since the step before. */
async function changesSince() {
  const uid = state.look?.window.window_uid;
  const since = baselines.get(uid);
  if (!since) return null;
  const seen = await tool("observe_window", { window_uid: uid, since, changed_only: true });
  if (seen.ok) baselines.set(uid, seen.tree_token);
  else baselines.delete(uid);
  return seen.ok ? seen : null;
}

async function showStep(entry, button) {
  for (const other of $("steps").querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  const { call } = entry;
  const changes = await entry.changes;
  replace(
    $("step-detail"),
    h("h3", {}, `#${call.step_id ?? "–"} ${call.tool}`),
    h("h4", {}, "Arguments"),
    h("pre", {}, JSON.stringify(call.args ?? {}, null, 2)),
    changes ? [h("h4", {}, "What it changed"), differences(changes)] : null,
    h("h4", {}, call.ok ? "Answer" : "Refused or failed"),
    call.result === undefined && call.result_bytes
      ? h("p", { class: "note" }, `${call.result_bytes} bytes, too many to show here`)
      : h("pre", {}, shortJson(call.result)),
  );
}

function differences(seen) {
  if (seen.unchanged || !(seen.changes ?? seen.diff ?? []).length) return h("p", { class: "note" }, "Nothing in the selected window.");
  const changes = seen.changes ?? seen.diff;
  return h("ul", { class: "changes" }, changes.slice(0, 100).map((change) => h("li", {}, describe(change))), changes.length > 100 ? h("li", { class: "note" }, `and ${changes.length - 100} more`) : null);
}

/** `replace 0 {"value":"x"}` as a sentence: which element, and what of it. */
function describe(change) {
  const id = ["root", ...String(change.path ?? "").split(/[/.]/)].filter(Boolean).join(".").replace(/^root\.root/, "root");
  const element = change.node ?? change.element ?? change.value ?? null;
  const known = elementById(change.id ?? id) ?? (typeof element === "object" ? element : null);
  const fields = change.fields ?? change.changes ?? change.changed ?? (change.op === "replace" ? change.value : null);
  return shorten(`${change.op ?? change.type ?? "changed"} ${known?.role ? label(known) : id}${fields ? `: ${JSON.stringify(fields)}` : ""}`, 240);
}

function shortJson(value) {
  const text = JSON.stringify(value ?? null, (key, inner) => (key === "data" && typeof inner === "string" && inner.length > 200 ? `${inner.length} characters` : inner), 2);
  return text.length > 20000 ? `${text.slice(0, 20000)}\n… ${text.length - 20000} more characters` : text;
}
