// The selector box: matches while you type, or why there are none.

import { message, tool } from "./server.js";
import { $, calmly, h, replace } from "./dom.js";
import { hover, on, select, state, tell } from "./store.js";

export function start() {
  $("selector").addEventListener("input", calmly(200, search));
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  on("look", () => $("selector").value.trim() && search());
}

async function search() {
  const selector = $("selector").value.trim();
  const window = state.look?.window;
  if (!selector || !window) {
    show([], "");
    return;
  }
  const reply = await tool("find_element", { window_uid: window.window_uid, selector });
  if ($("selector").value.trim() !== selector) return;
  const matches = reply.all_matches ?? [];
  const count = matches.length === 1 ? "1 match" : `${matches.length} matches${matches.length === 10 ? " (the first ten)" : ""}`;
  show(matches, reply.ok ? count : message(reply));
}

function show(matches, note) {
  state.matches = matches.map((match) => match.element_id);
  $("matches-note").textContent = note;
  replace($("matches"), matches.map(entry));
  tell("matches", state.matches);
}

function entry(match) {
  const button = h(
    "button",
    { type: "button" },
    h("span", { class: "role" }, match.role),
    match.name ? h("span", { class: "name" }, ` ${match.name}`) : null,
  );
  button.addEventListener("click", () => select(match.element_id));
  button.addEventListener("pointerenter", () => hover(match.element_id));
  button.addEventListener("focus", () => hover(match.element_id));
  return h("li", {}, button);
}
