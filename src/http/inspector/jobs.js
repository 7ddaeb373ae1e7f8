// The jobs of this server: a list that follows what happens, and the one that is looked at (job.js). Nothing is asked
// for again and again: the server tells what happens.

import { $, atMost, h, replace, shorten } from "./dom.js";
import * as job from "./job.js";
import { get, message, watchJobs } from "./server.js";
import { on, state, tell } from "./store.js";

const LISTED = 100;
let visible = false;
/** Something happened that the list does not show yet. */
let stale = true;
const refresh = atMost(500, read);

export function start({ readOnly }) {
  job.start({ readOnly });
  on("choose-job", choose);
  document.addEventListener("visibilitychange", () => stale && refresh());
  watchJobs(receive, (words) => ($("jobs-live").textContent = words));
}

/** Whether anybody sees the list. */
export function look(seen) {
  visible = seen;
  if (visible && stale) refresh();
}

function receive(event) {
  if (event.type === "hello") return refresh();
  if (event.type === "approval") tell("approval");
  if (event.job_id === state.job) job.follow(event);
  // Calls and inputs change nothing that the list shows.
  if (event.type !== "event") refresh();
}

async function read() {
  if (!visible || document.hidden) {
    stale = true;
    return;
  }
  stale = false;
  const reply = await get(`/api/jobs?limit=${LISTED}`);
  if (reply.ok === false) {
    stale = true;
    $("jobs-note").textContent = message(reply);
    return;
  }
  show(reply.jobs ?? []);
}

function show(jobs) {
  $("jobs-note").textContent = note(jobs.length);
  const kept = document.activeElement?.dataset?.job;
  replace($("job-entries"), jobs.map(entry));
  if (kept) $("job-entries").querySelector(`[data-job="${CSS.escape(kept)}"]`)?.focus();
  if (!state.job && jobs.length) choose(jobs[0].job_id);
}

function note(count) {
  if (!count) return "No jobs yet.";
  return count < LISTED ? "" : `The newest ${LISTED}; GET /api/jobs lists more.`;
}

function entry(one) {
  const button = h(
    "button",
    { type: "button", class: "job-entry", "aria-current": one.job_id === state.job ? "true" : null, "data-job": one.job_id, title: one.job_id },
    job.statusMark(one),
    h("span", { class: "job-goal" }, shorten(one.job, 160)),
    h("span", { class: "note" }, facts(one)),
  );
  button.addEventListener("click", () => choose(one.job_id));
  return h("li", {}, button);
}

function facts(one) {
  const began = new Date(one.created_at).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
  const took = one.started_at && one.finished_at ? job.seconds((Date.parse(one.finished_at) - Date.parse(one.started_at)) / 1000) : null;
  return [began, took, job.money(one)].filter(Boolean).join(" · ");
}

function choose(id) {
  state.job = id;
  tell("job", id);
  for (const button of $("job-entries").querySelectorAll("[data-job]")) {
    if (button.dataset.job === id) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  job.show(id);
}
