// Calls that wait for a person: what would be touched, its picture, and two buttons.

import { get, message, post } from "./api.js";
import { $, h, replace, toggle } from "./dom.js";
import { on } from "./store.js";

export function start() {
  on("approval", read);
  on("resync", read);
  read();
}

async function read() {
  const reply = await get("/api/approvals");
  const pending = reply.approvals ?? [];
  toggle($("approvals"), pending.length > 0);
  replace($("approvals"), pending.map(card));
  document.title = pending.length ? `(${pending.length}) OS Screen Observer` : "OS Screen Observer";
}

function card(approval) {
  const outcome = h("p", { class: "note", role: "status" });
  const decide = async (verdict) => {
    const reply = await post(`/api/approvals/${encodeURIComponent(approval.id)}`, { decision: verdict });
    if (!reply.ok) outcome.textContent = message(reply);
    read();
  };
  const picture = approval.picture?.data
    ? h("img", { class: "approval-picture", src: `data:image/png;base64,${approval.picture.data}`, alt: "Where it would act" })
    : null;
  return h(
    "article",
    { class: "approval" },
    picture,
    h(
      "div",
      {},
      h("h2", {}, `May the agent call ${approval.tool}?`),
      h("p", {}, approval.question ?? approval.message ?? ""),
      h("ul", {}, (approval.targets ?? []).map((target) => h("li", {}, targetText(target)))),
      h("details", {}, h("summary", {}, "Arguments"), h("pre", {}, JSON.stringify(approval.arguments ?? {}, null, 2))),
      h(
        "div",
        { class: "buttons" },
        h("button", { type: "button", class: "good", onclick: () => decide("approve") }, "Approve once"),
        h("button", { type: "button", class: "danger", onclick: () => decide("deny") }, "Deny"),
      ),
      outcome,
    ),
  );
}

function targetText(target) {
  const name = [target.role, target.name && `"${target.name}"`].filter(Boolean).join(" ");
  return [name || target.element_id || "", target.window && `in ${target.window}`].filter(Boolean).join(" ");
}
