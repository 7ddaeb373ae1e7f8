// One job: what it is about, how far it is against its limits, what happened, what came of it, and what a person may do.

import { $, atMost, h, replace } from "./dom.js";
import { eventRow, settle } from "./job_events.js";
import { blobUrl, get, message, post } from "./server.js";

/** As many events are shown; earlier ones are fetched when they are asked for. */
const MOST_ROWS = 500;
const OVER = ["succeeded", "failed", "cancelled", "interrupted", "budget_exceeded", "stalled", "rejected"];
const HELD = ["running", "paused", "input_required"];
const PICTURE = /\.(png|jpe?g|webp)$/i;

let readOnly = true;
/** What is known of the job that is shown. */
let known = nothing(null);
let ticking = null;
const readAgain = atMost(500, () => read(known));

function nothing(id) {
  return { id, job: null, last: 0, first: 0, events: [], urls: [], loaded: false, filesListed: false };
}

export function start(options) {
  readOnly = options.readOnly;
  replace($("job"), h("p", { class: "note" }, "Choose a job."));
}

/** Shows another job from its beginning. */
export async function show(id) {
  if (known.id === id) return;
  known.urls.forEach((url) => URL.revokeObjectURL(url));
  const shown = nothing(id);
  known = shown;
  replace($("job"), parts());
  await read(shown);
  if (known !== shown || !shown.job) return;
  shown.last = shown.first = Math.max(0, (shown.job.last_event ?? 0) - MOST_ROWS);
  await readLater(shown);
  shown.loaded = true;
  // What happened meanwhile.
  if (known === shown) await readLater(shown);
}

function parts() {
  const section = (id, title) => h("section", { id: `job-${id}`, "aria-label": title });
  return [
    h("h3", { id: "job-title" }),
    h("p", { id: "job-facts", class: "job-facts" }),
    h("div", { id: "job-buttons", class: "buttons" }),
    h("p", { id: "job-said", class: "note", role: "status" }),
    section("questions", "What the job asks"),
    section("meters", "Used, of what it may use"),
    section("result", "Result"),
    section("files", "Screenshots and files"),
    h(
      "section",
      { "aria-labelledby": "job-events-title" },
      h("h4", { id: "job-events-title" }, "What happened"),
      h("button", { type: "button", id: "job-earlier", class: "quiet", hidden: true, onclick: readEarlier }),
      h("ol", { id: "job-events", class: "job-events", tabindex: "0", "aria-labelledby": "job-events-title" }),
    ),
  ];
}

/** Something happened to the job that is shown. */
export function follow(event) {
  if (event.job_id !== known.id || !known.loaded || event.seq <= known.last) return;
  if (event.seq > known.last + 1) readLater(known);
  else add(known, [event]);
  readAgain();
}

async function read(shown) {
  if (!shown.id) return;
  const job = await get(`/api/jobs/${encodeURIComponent(shown.id)}`);
  if (known !== shown) return;
  if (job.ok === false) {
    $("job-said").textContent = message(job);
    return;
  }
  shown.job = job;
  showFacts(job);
  showButtons(job);
  showQuestions(job);
  showMeters();
  showResult(job);
  showFiles(shown);
  tick(!OVER.includes(job.status));
}

async function readLater(shown) {
  for (;;) {
    const reply = await get(`/api/jobs/${encodeURIComponent(shown.id)}/events?after=${shown.last}&limit=${MOST_ROWS}`);
    if (known !== shown || reply.ok === false) return;
    add(shown, reply.events ?? []);
    if ((reply.events ?? []).length < MOST_ROWS) return;
  }
}

async function readEarlier() {
  const shown = known;
  const after = Math.max(0, shown.first - MOST_ROWS);
  const reply = await get(`/api/jobs/${encodeURIComponent(shown.id)}/events?after=${after}&limit=${shown.first - after}`);
  if (known !== shown || reply.ok === false) return;
  shown.events = [...reply.events, ...shown.events];
  shown.first = after;
  const rows = reply.events.map(eventRow);
  $("job-events").prepend(...rows);
  for (const event of shown.events) settleRow(event);
  showEarlier();
}

function add(shown, events) {
  const list = $("job-events");
  const atEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 40;
  for (const event of events.filter((event) => event.seq > shown.last)) {
    shown.last = event.seq;
    shown.events.push(event);
    if (!settleRow(event)) list.append(eventRow(event));
  }
  while (list.childElementCount > MOST_ROWS * 2) {
    shown.first = Number(list.firstElementChild.dataset.seq);
    list.firstElementChild.remove();
  }
  shown.events = shown.events.filter((event) => event.seq > shown.first);
  if (atEnd) list.scrollTop = list.scrollHeight;
  showEarlier();
  showMeters();
}

/** Whether an event ended what an earlier row began. */
function settleRow(event) {
  if (event.kind !== "outcome") return false;
  const row = $("job-events").querySelector(`[data-seq="${Number(event.intent)}"]`);
  if (row) settle(row, event);
  return Boolean(row);
}

function showEarlier() {
  $("job-earlier").hidden = known.first === 0;
  $("job-earlier").textContent = `Show earlier events (${known.first})`;
}

// ---- what it is

/** What a wish becomes when the job has obeyed. */
const OBEYED = { pause: "paused", takeover: "taken over", cancel: "cancelled" };

function statusWords(job) {
  const status = job.status.replace("_", " ");
  const wish = OBEYED[job.wanted];
  if (!wish || OVER.includes(job.status)) return status;
  if (job.status === "paused" && job.wanted !== "cancel") return wish;
  return `${status}, to be ${wish}`;
}

export function statusMark(job) {
  return h("span", { class: `status status-${job.status}` }, statusWords(job));
}

function showFacts(job) {
  $("job-title").textContent = job.job;
  const at = (name, time) => time && `${name} ${new Date(time).toLocaleString()}`;
  const words = [job.planner, modelNames(job), job.desk && `desk ${job.desk}`, at("made", job.created_at), at("ended", job.finished_at), job.job_id];
  replace($("job-facts"), statusMark(job), " ", h("span", { class: "note" }, words.filter(Boolean).join(" · ")));
}

/** Who answered; before anybody did, who is to. */
function modelNames({ model, models }) {
  return models?.length ? models.map((one) => `${one.model} (${workOf(one)})`).join(", ") : model;
}

function workOf({ turns, checks }) {
  const planned = turns === 1 ? "1 turn" : `${turns} turns`;
  if (!checks) return planned;
  return turns ? `${planned}, safety check` : "safety check";
}

function isScripted(planner) {
  return String(planner).startsWith("scripted:");
}

export function seconds(count) {
  const whole = Math.max(0, Math.round(count));
  if (whole < 60) return `${whole} s`;
  const parts = [[Math.floor(whole / 3600), "h"], [Math.floor(whole / 60) % 60, "min"], [whole < 3600 ? whole % 60 : 0, "s"]];
  return parts.filter(([count]) => count).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

export function dollars(amount) {
  return amount > 0 && amount < 0.0001 ? "<$0.0001" : `$${amount.toFixed(4)}`;
}

export function money(job) {
  const used = (job.usage?.input ?? 0) + (job.usage?.output ?? 0) > 0;
  if (typeof job.cost_usd === "number") return used || job.cost_usd > 0 ? dollars(job.cost_usd) : "";
  return used ? "price unknown" : "";
}

// ---- what it has used

function showMeters() {
  const { job } = known;
  if (!job) return;
  const limits = job.limits ?? {};
  const tokens = Math.max((job.usage?.input ?? 0) + (job.usage?.output ?? 0), tokensOfTurns());
  const rows = [
    meter("Turns", Math.max(job.steps ?? 0, turnsTold(job)), limits.max_steps, String),
    meter("Time", workedSeconds(), limits.timeout_ms && limits.timeout_ms / 1000, seconds),
    meter("Inputs", job.inputs ?? 0, limits.max_actions, String),
    meter("Tokens", tokens, limits.max_tokens, (count) => `${count.toLocaleString()}${job.usage?.estimated ? ", estimated" : ""}`),
    meter("Cost", newest("cost_usd") ?? job.cost_usd ?? (tokens ? null : 0), limits.max_usd, dollars),
  ];
  replace($("job-meters"), rows);
}

/** The turns that the events tell of: those of a model say so, each of a script is one call. */
function turnsTold(job) {
  const calls = isScripted(job.planner) ? known.events.filter((event) => ["call", "intent"].includes(event.kind)).length : 0;
  return Math.max(newest("turn") ?? 0, calls);
}

/** The last value that a turn told. */
function newest(field) {
  return known.events.findLast((event) => event.kind === "turn" && typeof event[field] === "number")?.[field];
}

function tokensOfTurns() {
  const turns = known.events.filter((event) => event.kind === "turn");
  return turns.reduce((sum, turn) => sum + (turn.usage?.input ?? 0) + (turn.usage?.output ?? 0), 0);
}

/** A person's time is not the job's: what lies between a pause and going on does not count. */
function workedSeconds() {
  const { job, events } = known;
  if (!job.started_at) return 0;
  const end = job.finished_at ? Date.parse(job.finished_at) : Date.now();
  let [waited, since] = [0, null];
  for (const event of events) {
    const at = Date.parse(event.at);
    if (["paused", "input_required"].includes(event.status)) since ??= at;
    else if (event.status && since !== null) [waited, since] = [waited + at - since, null];
  }
  if (since !== null) waited += end - since;
  return Math.max(0, end - Date.parse(job.started_at) - waited) / 1000;
}

function meter(name, used, most, say) {
  const capped = typeof most === "number" && most > 0;
  const text = used === null ? "unknown" : `${say(used)}${capped ? ` of ${say(most)}` : ""}`;
  const bar = capped ? h("progress", { max: String(most), value: String(Math.min(used ?? 0, most)), "aria-label": name }) : null;
  const near = capped && (used ?? 0) >= most * 0.9;
  return h("div", { class: near ? "meter near" : "meter" }, h("span", { class: "meter-name" }, name), h("span", {}, text), bar);
}

/** Only a job that is under way has a time that moves. */
function tick(under_way) {
  clearInterval(ticking);
  ticking = under_way ? setInterval(() => document.hidden || showMeters(), 1000) : null;
}

// ---- what a person may do

function actionsOf(job) {
  if (job.status === "interrupted") return [["resume", "Let it go on", "good"]];
  if (OVER.includes(job.status) || job.wanted === "cancel") return [];
  const held = HELD.includes(job.status);
  const going = {
    run: [["pause", "Pause", ""]],
    pause: [["resume", "Resume", "good"]],
    takeover: [["release", "Give it back", "good"]],
  }[job.wanted] ?? [];
  const taking = held && job.wanted !== "takeover" ? [["takeover", "Take over", ""]] : [];
  return [...going, ...taking, ["cancel", "Cancel", "danger"]];
}

function showButtons(job) {
  const actions = readOnly ? [] : actionsOf(job);
  const key = actions.map(([name]) => name).join(" ");
  const place = $("job-buttons");
  if (place.dataset.actions === key) return;
  place.dataset.actions = key;
  const focused = place.contains(document.activeElement);
  replace(place, actions.map(([name, label, kind]) => h("button", { type: "button", class: kind, "data-action": name, onclick: () => act(name) }, label)));
  if (focused) (place.querySelector("button") ?? $("job")).focus();
}

async function act(name) {
  const reply = await post(`/api/jobs/${encodeURIComponent(known.id)}/${name}`);
  $("job-said").textContent = reply.ok === false ? message(reply) : [SAID[name], reply.see].filter(Boolean).join(" ");
  readAgain();
}

const SAID = {
  pause: "It sends no further input until you resume it.",
  takeover: "When it is paused the desktop is yours: it neither acts nor looks until you give it back.",
  release: "It looks again before it acts.",
  cancel: "It sends nothing more.",
};

function showQuestions(job) {
  const place = $("job-questions");
  const open = job.approvals ?? [];
  const key = open.map((question) => question.id).join(" ");
  if (place.dataset.open === key) return;
  place.dataset.open = key;
  replace(place, open.map(question));
}

function question(asked) {
  const target = [asked.target?.role, asked.target?.name && `"${asked.target.name}"`, asked.target?.window && `in ${asked.target.window}`].filter(Boolean).join(" ");
  const decide = async (decision) => {
    const reply = await post(`/api/jobs/${encodeURIComponent(known.id)}/answer`, { id: asked.id, decision });
    $("job-said").textContent = reply.ok === false ? message(reply) : "";
    readAgain();
  };
  const buttons = [
    h("button", { type: "button", class: "good", onclick: () => decide("allow") }, "Approve"),
    h("button", { type: "button", class: "danger", onclick: () => decide("deny") }, "Deny"),
  ];
  return h(
    "article",
    { class: "job-question" },
    h("h4", {}, `May it call ${asked.tool ?? "this"}?`),
    h("p", {}, asked.question ?? ""),
    h("p", {}, h("strong", {}, target)),
    h("pre", {}, JSON.stringify(asked.args ?? {}, null, 2)),
    h("p", { class: "note" }, `Refused by itself at ${new Date(asked.expires_at).toLocaleTimeString()}.`),
    readOnly ? null : h("div", { class: "buttons" }, buttons),
  );
}

// ---- what came of it

function showResult(job) {
  const verdict = { true: ["badge on", "fits the schema"], false: ["badge bad", "does not fit the schema"] }[String(job.fits_schema)];
  const error = job.error && h("p", { class: "job-error" }, `${job.error.code}: ${job.error.message}`);
  const doubt = job.in_doubt ?? [];
  replace(
    $("job-result"),
    job.result !== undefined || error ? h("h4", {}, "Result ", verdict ? h("span", { class: verdict[0] }, verdict[1]) : null) : null,
    job.result !== undefined ? h("pre", { class: "outcome", tabindex: "0" }, JSON.stringify(job.result, null, 2)) : null,
    error,
    doubt.length ? [h("p", { class: "job-error" }, "These inputs may or may not have been sent; look at the desktop:"), h("ul", {}, doubt.map((event) => h("li", {}, [event.tool, event.target].filter(Boolean).join(" "))))] : null,
  );
}

async function showFiles(shown) {
  if (!shown.job.record || !OVER.includes(shown.job.status) || shown.filesListed) return;
  shown.filesListed = true;
  const reply = await get(`/api/jobs/${encodeURIComponent(shown.id)}/artifacts`);
  if (known !== shown) return;
  const files = reply.artifacts ?? [];
  const pictures = files.filter((file) => PICTURE.test(file.path));
  replace(
    $("job-files"),
    h("h4", {}, `Screenshots and files (${files.length})`),
    reply.ok === false ? h("p", { class: "job-error" }, message(reply)) : null,
    h("div", { class: "job-pictures" }, pictures.map(picture)),
    h("ul", { class: "job-files" }, files.filter((file) => !PICTURE.test(file.path)).map(fileEntry)),
  );
}

function address(file) {
  return `/api/jobs/${encodeURIComponent(known.id)}/artifact?path=${encodeURIComponent(file.path)}`;
}

/** Fetched when it comes into view. */
function picture(file) {
  const image = h("img", { alt: file.path, width: "160", height: "100" });
  const link = h("a", { target: "_blank", rel: "noopener" }, image);
  const seen = new IntersectionObserver(async ([entry]) => {
    if (!entry.isIntersecting) return;
    seen.disconnect();
    const url = await keptUrl(file);
    if (url) [image.src, link.href] = [url, url];
    else image.alt = `${file.path} cannot be read`;
  });
  seen.observe(image);
  return h("figure", {}, link, h("figcaption", { class: "note" }, file.path));
}

async function keptUrl(file) {
  const shown = known;
  const url = await blobUrl(address(file));
  if (url) shown.urls.push(url);
  return url;
}

function fileEntry(file) {
  const save = async () => {
    const url = await keptUrl(file);
    if (!url) $("job-said").textContent = `${file.path} cannot be read`;
    else h("a", { href: url, download: file.path.split("/").pop() }).click();
  };
  return h("li", {}, h("button", { type: "button", class: "quiet", onclick: save }, `Save ${file.path}`), " ", h("span", { class: "note" }, `${file.bytes.toLocaleString()} bytes`));
}
