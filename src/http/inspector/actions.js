// Doing something by hand: the same tools, through the same gate, as an agent.

import { get, message, tool } from "./server.js";
import { $, h, replace } from "./dom.js";
import { on, state, tell } from "./store.js";
import { elementById, look } from "./view.js";

const outcome = h("pre", { class: "outcome", role: "status" });

export async function start() {
  replace($("actions"), pointer(), keyboard("type_text", "Type", "text", "Text to type"), keyboard("press_key", "Press", "keys", "ctrl+s"), scroll(), await anyTool(), h("h3", {}, "Answer"), outcome);
  on("select", (id) => {
    const box = elementById(id)?.bounds_screen;
    if (!box) return;
    $("click-x").value = Math.round(box.x + box.width / 2);
    $("click-y").value = Math.round(box.y + box.height / 2);
  });
}

async function run(name, args) {
  outcome.textContent = "…";
  const reply = await tool(name, args);
  const shown = reply.data ? { ...reply, data: `${reply.data.length} characters of base64` } : reply;
  outcome.textContent = `${reply.ok ? "" : `${message(reply)}\n\n`}${JSON.stringify(shown, null, 2)}`;
  tell("acted", reply);
  look();
}

function form(title, fields, submit, label) {
  const made = h("form", { class: "action", autocomplete: "off" }, h("h3", {}, title), h("div", { class: "fields" }, fields, h("button", { type: "submit" }, label)));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(new FormData(made));
  });
  return made;
}

function number(id, name, label, value) {
  return h("label", {}, `${label} `, h("input", { id, name, type: "number", required: true, value }));
}

function choice(name, label, options) {
  return h("label", {}, `${label} `, h("select", { name }, options.map((option) => h("option", {}, option))));
}

function pointer() {
  const fields = [number("click-x", "x", "x", 0), number("click-y", "y", "y", 0), choice("button", "button", ["left", "right", "middle"]), h("label", {}, h("input", { type: "checkbox", name: "double" }), " double")];
  return form("Click at a point of the screen", fields, (data) => {
    const args = { x: Number(data.get("x")), y: Number(data.get("y")), button: data.get("button") };
    run("click_at", data.get("double") ? { ...args, double: true } : args);
  }, "Click");
}

function keyboard(name, label, field, hint) {
  const input = h("label", {}, `${field} `, h("input", { name: field, required: true, placeholder: hint, spellcheck: "false" }));
  return form(`${label} ${field} in the focused element`, [input], (data) => run(name, { [field]: data.get(field) }), label);
}

function scroll() {
  return form("Scroll (positive is up)", [number("scroll-clicks", "clicks", "clicks", -3)], (data) => run("scroll", { clicks: Number(data.get("clicks")) }), "Scroll");
}

/** A console for every tool there is. */
async function anyTool() {
  const reply = await get("/api/tools");
  const names = (reply.tools ?? []).map((entry) => entry.name ?? entry);
  const select = h("label", {}, "tool ", h("select", { name: "tool" }, names.map((name) => h("option", {}, name))));
  const input = h("label", { class: "wide" }, "arguments ", h("textarea", { name: "args", rows: "3", spellcheck: "false" }, "{}"));
  return form("Call any tool", [select, input], (data) => {
    let args;
    try {
      args = JSON.parse(data.get("args"));
    } catch (problem) {
      outcome.textContent = `The arguments are not JSON: ${problem.message}`;
      return;
    }
    const window = state.look?.window;
    if (args.window_uid === "selected" && window) args.window_uid = window.window_uid;
    run(data.get("tool"), args);
  }, "Call");
}
