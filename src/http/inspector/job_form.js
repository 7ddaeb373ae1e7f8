// A new job: a goal, who plans it, and what it may use.

import { $, h, replace } from "./dom.js";
import { message, post } from "./server.js";
import { tell } from "./store.js";

const PLANNERS = ["auto", "chat", "responses", "anthropic", "opencode", "cli", "scripted:demo"];
/** What may be said of each desk. */
const DESKS = { "": null, mock: ["scenario", "Scenario"], sandbox: ["program", "Program"], desktop: null, browser: ["start_url", "First page"] };

export function start() {
  const names = h("datalist", { id: "job-planners" }, PLANNERS.map((name) => h("option", { value: name })));
  const desk = h("select", { name: "desk" }, Object.keys(DESKS).map((name) => h("option", { value: name }, name || "as the server's")));
  const detail = h("input", { name: "detail", spellcheck: "false" });
  const detailName = h("span", {});
  const ofDesk = h("label", { class: "field" }, detailName, detail);
  const said = h("p", { class: "note", role: "alert" });
  const form = h(
    "form",
    { class: "job-form", autocomplete: "off" },
    field("What is to be done", h("textarea", { name: "job", rows: "3", required: true, maxlength: "16384" })),
    field("Planner", h("input", { name: "planner", list: "job-planners", placeholder: "chat", spellcheck: "false" })),
    names,
    field("Model", h("input", { name: "model", spellcheck: "false" })),
    field("Turns, at most", h("input", { name: "max_steps", type: "number", min: "1", placeholder: "80" })),
    field("Seconds, at most", h("input", { name: "timeout", type: "number", min: "1", placeholder: "1800" })),
    field("Dollars, at most", h("input", { name: "max_usd", type: "number", min: "0", step: "any" })),
    field("Desk", desk),
    ofDesk,
    h("label", {}, h("input", { name: "record", type: "checkbox" }), " Record it, with screenshots"),
    h("button", { type: "submit" }, "Make the job"),
    said,
  );
  const showDetail = () => {
    ofDesk.hidden = !DESKS[desk.value];
    detailName.textContent = DESKS[desk.value]?.[1] ?? "";
  };
  desk.addEventListener("change", showDetail);
  showDetail();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(form, said);
  });
  replace($("job-new"), h("details", { class: "job-new" }, h("summary", {}, "New job"), form));
}

function field(name, input) {
  return h("label", { class: "field" }, h("span", {}, name), input);
}

/** Only what was filled in: the server knows what holds otherwise. */
function specOf(form) {
  const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
  const { max_steps, timeout, max_usd, detail, record, ...spec } = given;
  const limits = {
    ...(max_steps && { max_steps: Number(max_steps) }),
    ...(timeout && { timeout_ms: Number(timeout) * 1000 }),
    ...(max_usd && { max_usd: Number(max_usd) }),
  };
  if (Object.keys(limits).length) spec.limits = limits;
  const about = DESKS[spec.desk ?? ""];
  if (about && detail) spec[about[0]] = detail;
  if (record) spec.record = true;
  return spec;
}

async function submit(form, said) {
  const reply = await post("/api/jobs", specOf(form));
  said.textContent = reply.ok === false ? message(reply) : "";
  if (!reply.job_id) return;
  form.reset();
  form.elements.desk.dispatchEvent(new Event("change"));
  form.closest("details").open = false;
  tell("choose-job", reply.job_id);
  $("job").focus();
}
