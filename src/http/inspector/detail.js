// The selected element: its facts, how an agent would name it, and a call that is ready to be made.

import { message, tool } from "./server.js";
import { $, copyButton, h, replace } from "./dom.js";
import { on, state, tell } from "./store.js";
import { elementById, label, look } from "./view.js";

export function start() {
  on("select", show);
  on("look", () => {
    const element = elementById(state.selected);
    const shown = $("detail").querySelector("dl");
    if (element && shown) shown.replaceWith(facts(element));
    else show(state.selected);
  });
}

async function show(id) {
  const element = elementById(id);
  if (!element) {
    replace($("detail"), h("p", { class: "note" }, "Point at something, or click it: its row, its box and its cell light up together."));
    return;
  }
  replace($("detail"), head(element), facts(element));
  const where = { window_uid: state.look.window.window_uid };
  const found = await tool("find_element", { ...where, selector: element.id });
  if (state.selected !== id) return;
  const call = { ...where, ...(found.selector ? { selector: found.selector } : { element_id: element.id }) };
  $("detail").append(names(element, found), ready(call));
}

function head(element) {
  return h("h3", {}, label(element));
}

function facts(element) {
  const box = element.bounds_screen;
  const flags = Object.entries(element.state ?? {}).filter(([, value]) => value !== null);
  const entries = [
    ["value", element.value],
    ["place", box ? `${box.x},${box.y}  ${box.width} × ${box.height}` : null],
    ["states", flags.map(([name, value]) => (value ? name : `not ${name}`)).join(", ")],
    ["shortcut", element.keyboard_shortcut],
    ["identifier", element.identifier],
    ["read by OCR", element.ocr_text],
    ["covered", element.occluded ? "yes" : null],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", {}, entries.map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]));
}

function names(element, found) {
  return h(
    "dl",
    {},
    found.ref ? [h("dt", {}, "ref"), h("dd", {}, h("code", {}, found.ref))] : null,
    h("dt", {}, "id"),
    h("dd", {}, h("code", {}, element.id), " ", copyButton("Copy", () => element.id)),
    h("dt", {}, "selector"),
    found.selector
      ? h("dd", {}, h("code", { class: "selector" }, found.selector), " ", copyButton("Copy", () => found.selector))
      : h("dd", { class: "note" }, message(found)),
  );
}

function ready(call) {
  const text = JSON.stringify(call, null, 2);
  const outcome = h("p", { class: "note", role: "status" });
  const run = h("button", { type: "button", id: "run-click" }, "Click it");
  run.addEventListener("click", async () => {
    run.disabled = true;
    const reply = await tool("click_element", call);
    run.disabled = false;
    outcome.textContent = reply.ok ? `Clicked. ${reply.changed ? "The window changed." : "Nothing changed."}` : message(reply);
    tell("acted", reply);
    look();
  });
  return h(
    "div",
    { class: "ready" },
    h("p", {}, h("code", {}, "click_element"), " with"),
    h("pre", {}, text),
    h("div", { class: "buttons" }, copyButton("Copy the call", () => text), run),
    outcome,
  );
}
