// Calls that wait for a person: what would be touched, its picture, and two buttons.

import { blobUrl, get, message, post } from "./server.js";
import { $, h, replace, toggle } from "./dom.js";
import { on, state } from "./store.js";

let pending = [];

export function start() {
  on("approval", read);
  on("resync", read);
  on("tab", show);
  on("job", show);
  read();
}

async function read() {
  const reply = await get("/api/approvals");
  pending = reply.approvals ?? [];
  document.title = pending.length ? `(${pending.length}) OS Screen Observer` : "OS Screen Observer";
  show();
}

/** What the job asks that is looked at stands there. */
function show() {
  const elsewhere = pending.filter((approval) => !(state.tab === "jobs" && approval.job_id && approval.job_id === state.job));
  const key = elsewhere.map((approval) => approval.id).join(" ");
  if ($("approvals").dataset.open === key) return;
  $("approvals").dataset.open = key;
  toggle($("approvals"), elsewhere.length > 0);
  replace($("approvals"), elsewhere.map(card));
}

function card(approval) {
  const outcome = h("p", { class: "note", role: "status" });
  const decide = async (decision) => {
    const reply = await post(`/api/approvals/${encodeURIComponent(approval.id)}`, { decision });
    if (!reply.ok) outcome.textContent = message(reply);
    read();
  };
  const yes = approval.for_session ? "Approve for this session" : "Approve once";
  return h(
    "article",
    { class: "approval" },
    picture(approval),
    h(
      "div",
      {},
      h("h2", {}, `May ${approval.job_id ? "a job" : "the agent"} call ${approval.tool}?`),
      h("p", {}, approval.question ?? ""),
      h("p", {}, h("strong", {}, targetText(approval.target ?? {}))),
      h("details", { open: isLong(approval.args) }, h("summary", {}, "Arguments"), h("pre", {}, JSON.stringify(approval.args ?? {}, null, 2))),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", class: "good", onclick: () => decide("allow") }, yes),
        h("button", { type: "button", class: "danger", onclick: () => decide("deny") }, "Deny"),
        timeLeft(approval.expires_in_ms ?? Date.parse(approval.expires_at) - Date.now()),
      ),
      outcome,
    ),
  );
}

/** What does not fit into a line stands open: nobody consents to what is folded away. */
function isLong(args) {
  return JSON.stringify(args ?? {}).length > 80;
}

function picture(approval) {
  if (!approval.picture?.url) return null;
  const image = h("img", { class: "approval-picture", alt: "The window, where it would act" });
  const place = h("div", { class: "approval-frame" }, image);
  blobUrl(approval.picture.url).then((url) => {
    if (!url) return place.remove();
    image.addEventListener("load", () => {
      mark(place, image, approval.picture.element);
      URL.revokeObjectURL(url);
    });
    image.src = url;
  });
  return place;
}

/** A frame round what would be touched. */
function mark(place, image, element) {
  if (!element) return;
  const scale = image.clientWidth / image.naturalWidth;
  const frame = h("div", { class: "cell" });
  for (const [side, value] of [["left", element.x], ["top", element.y], ["width", element.width], ["height", element.height]]) {
    frame.style[side] = `${value * scale}px`;
  }
  place.append(frame);
}

function timeLeft(milliseconds) {
  if (!milliseconds) return null;
  const until = Date.now() + milliseconds;
  const clock = h("span", { class: "note" });
  const tick = () => {
    if (clock.isConnected || !clock.textContent) clock.textContent = `${Math.max(0, Math.round((until - Date.now()) / 1000))} s left`;
    else clearInterval(timer);
  };
  const timer = setInterval(tick, 1000);
  tick();
  return clock;
}

function targetText(target) {
  const name = [target.role, target.name && `"${target.name}"`].filter(Boolean).join(" ");
  return [name || target.element_id || "", target.window && `in ${target.window}`].filter(Boolean).join(" ");
}
