// What happened to a job, a row for each event. Everything in it is text of others: goals, pages, models.

import { h, shorten } from "./dom.js";

const SHOWN = 200;

/** A row; its details are written when somebody opens it. */
export function eventRow(event) {
  const { what, verdict, bad } = describe(event);
  const body = h("pre", {});
  const details = h(
    "details",
    {},
    h(
      "summary",
      {},
      h("span", { class: "note job-event-time" }, new Date(event.at).toLocaleTimeString()),
      h("span", { class: "job-event-kind" }, event.kind),
      h("span", { class: "job-event-what" }, what),
      h("span", { class: "job-event-verdict" }, verdict ?? ""),
    ),
    body,
  );
  details.addEventListener("toggle", () => (body.textContent = JSON.stringify(bare(event), null, 2)));
  return h("li", { class: bad ? "job-event bad" : "job-event", "data-seq": String(event.seq) }, details);
}

/** What came of an input, written into the row that said that it was about to be sent. */
export function settle(row, event) {
  row.classList.toggle("bad", !event.ok);
  row.querySelector(".job-event-verdict").textContent = event.ok ? "ok" : (event.code ?? "failed");
}

/** Without what belongs to the way here. */
function bare({ type, number, job_id, ...event }) {
  return event;
}

function describe(event) {
  const say = WORDS[event.kind];
  return say ? say(event) : { what: shorten(JSON.stringify(bare(event)), SHOWN) };
}

const WORDS = {
  note: (event) => ({ what: shorten([event.status, waiting(event), event.problem, event.why, event.see].filter(Boolean).join(": ") || JSON.stringify(bare(event)), SHOWN), bad: Boolean(event.problem) }),
  control: (event) => ({ what: shorten([event.wanted && `${event.wanted} is wanted`, event.status, event.why].filter(Boolean).join(": "), SHOWN) }),
  turn: (event) => ({ what: shorten(event.said ?? [`turn ${event.turn}`, event.model].filter(Boolean).join(" · "), SHOWN), verdict: tokens(event.usage) }),
  call: (event) => ({
    what: shorten([event.tool, event.message].filter(Boolean).join(": "), SHOWN),
    verdict: event.ok ? `ok · ${event.ms} ms` : (event.code ?? "failed"),
    bad: !event.ok,
  }),
  intent: (event) => ({ what: shorten([event.tool, event.target].filter(Boolean).join(" · "), SHOWN), verdict: "sending…" }),
  outcome: (event) => ({ what: `input ${event.intent}`, verdict: event.ok ? "ok" : (event.code ?? "failed"), bad: !event.ok }),
  approval: (event) => ({ what: shorten(event.question ? `asks: ${event.question.question ?? event.question.tool ?? ""}` : `answered: ${event.outcome ?? event.status ?? ""}`, SHOWN) }),
  safety: (event) => ({ what: shorten(JSON.stringify(bare(event)), SHOWN) }),
};

/** For whom, and for how long. */
function waiting({ waiting_s, model, instead_of, taken_over }) {
  if (taken_over) return "taken over";
  if (instead_of) return `asking ${model} instead of ${instead_of}`;
  return waiting_s === undefined ? null : `waiting ${waiting_s} s for ${model}`;
}

function tokens(usage) {
  const all = (usage?.input ?? 0) + (usage?.output ?? 0);
  return all ? `${all} tokens` : "";
}
