// The structure: one row an element, folded and walked like any tree, by pointer and by keyboard.

import { message } from "./server.js";
import { $, h, replace, shorten, toggle } from "./dom.js";
import { hover, on, select, state } from "./store.js";
import { elementById } from "./view.js";

/** Beyond this many rows a page gets slow; deeper levels are then folded at first. */
const MOST_ROWS = 1500;

const folded = new Set();
let rows = new Map();
let shownWindow = null;

export function start() {
  on("look", show);
  on("hover", (id) => mark("hovered", id));
  on("select", (id) => reveal(id));
  $("tree").addEventListener("keydown", walk);
  $("tree").addEventListener("pointerleave", () => hover(null));
}

function show(look) {
  const elements = look?.elements.list ?? [];
  $("element-count").textContent = elements.length ? String(elements.length) : "";
  const trouble = look ? message(look.sketch) : "No window is selected.";
  $("structure-note").textContent = trouble || (elements.length === 1 ? "This window exposes no elements. Try the screenshot or OCR." : "");
  toggle($("structure-note"), Boolean($("structure-note").textContent));
  if (look && look.window.window_uid !== shownWindow) {
    shownWindow = look.window.window_uid;
    folded.clear();
    foldAtFirst(elements);
  }
  render();
}

function foldAtFirst(elements) {
  if (elements.length <= MOST_ROWS) return;
  let depth = 1;
  while (elements.filter((element) => element.depth <= depth + 1).length <= MOST_ROWS) depth += 1;
  for (const element of elements) if (element.depth >= depth && element.children.length) folded.add(element.id);
}

function render() {
  const hadFocus = $("tree").contains(document.activeElement) ? document.activeElement.dataset.id : null;
  rows = new Map();
  const list = [];
  for (const element of state.look?.elements.list ?? []) {
    if (!isHidden(element)) list.push(row(element));
  }
  replace($("tree"), list);
  mark("selected", state.selected);
  mark("hovered", state.hovered);
  if (hadFocus) stopAt(rows.get(hadFocus))?.focus();
}

/** One row is reached by the Tab key: this one, or else the first. */
function stopAt(line) {
  const stop = line ?? rows.values().next().value;
  for (const row of rows.values()) row.tabIndex = row === stop ? 0 : -1;
  return stop;
}

function isHidden(element) {
  for (let above = element.parent; above; above = above.parent) if (folded.has(above.id)) return true;
  return false;
}

function row(element) {
  const flags = element.state ?? {};
  const words = [];
  if (flags.focused) words.push("focused");
  if (flags.enabled === false) words.push("disabled");
  if (flags.selected) words.push("selected");
  if (element.occluded) words.push("covered");
  const open = !folded.has(element.id);
  const line = h(
    "div",
    {
      role: "treeitem",
      class: "row",
      tabindex: "-1",
      "data-id": element.id,
      "aria-level": element.depth + 1,
      "aria-selected": "false",
      "aria-expanded": element.children.length ? String(open) : null,
    },
    h("span", { class: "fold", "aria-hidden": "true" }, element.children.length ? (open ? "▾" : "▸") : ""),
    h("span", { class: "role" }, element.role),
    element.name ? h("span", { class: "name" }, ` ${shorten(element.name, 80)}`) : null,
    element.value ? h("span", { class: "value" }, ` = ${shorten(element.value, 40)}`) : null,
    words.length ? h("span", { class: "flags" }, ` ${words.join(", ")}`) : null,
  );
  line.style.paddingInlineStart = `${Math.min(element.depth, 24) * 0.8 + 0.2}rem`;
  line.addEventListener("pointerenter", () => hover(element.id));
  line.addEventListener("click", (event) => {
    if (event.target.classList.contains("fold")) fold(element);
    else select(element.id);
  });
  rows.set(element.id, line);
  return line;
}

function fold(element, closed = !folded.has(element.id)) {
  if (!element.children.length) return;
  if (closed) folded.add(element.id);
  else folded.delete(element.id);
  render();
}

function mark(name, id) {
  for (const old of $("tree").querySelectorAll(`.${name}`)) {
    old.classList.remove(name);
    if (name === "selected") old.setAttribute("aria-selected", "false");
  }
  const line = rows.get(id);
  line?.classList.add(name);
  if (name === "selected") {
    line?.setAttribute("aria-selected", "true");
    stopAt(line);
  }
}

function reveal(id) {
  const element = elementById(id);
  let opened = false;
  for (let above = element?.parent; above; above = above.parent) opened = folded.delete(above.id) || opened;
  if (opened) render();
  mark("selected", id);
  rows.get(id)?.scrollIntoView({ block: "nearest" });
}

function walk(event) {
  const element = elementById(event.target.dataset?.id);
  if (!element) return;
  const lines = [...rows.keys()];
  const at = lines.indexOf(element.id);
  const moves = {
    ArrowDown: () => go(lines[at + 1]),
    ArrowUp: () => go(lines[at - 1]),
    Home: () => go(lines[0]),
    End: () => go(lines.at(-1)),
    ArrowRight: () => (folded.has(element.id) ? fold(element, false) : go(element.children[0]?.id)),
    ArrowLeft: () => (element.children.length && !folded.has(element.id) ? fold(element, true) : go(element.parent?.id)),
    Enter: () => select(element.id),
    " ": () => select(element.id),
  };
  const move = moves[event.key];
  if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  move();
}

function go(id) {
  const line = rows.get(id);
  if (!line) return;
  stopAt(line).focus();
  hover(id);
}
