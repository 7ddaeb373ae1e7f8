// The list of windows: choosing one drives everything else.

import { $, h, replace } from "./dom.js";
import { on, select, state } from "./store.js";
import { chosenWindow, look } from "./view.js";

export function start() {
  on("windows", show);
}

function show(windows) {
  $("window-count").textContent = windows.length ? String(windows.length) : "";
  const chosen = chosenWindow();
  const kept = document.activeElement?.dataset?.uid;
  replace($("windows"), windows.map((window) => entry(window, window === chosen)));
  if (kept) $("windows").querySelector(`[data-uid="${CSS.escape(kept)}"]`)?.focus();
  if (!windows.length) replace($("windows"), h("li", { class: "note" }, "No windows are open."));
}

function entry(window, isChosen) {
  const facts = [window.process, `${window.bounds.width} × ${window.bounds.height}`];
  if (window.focused) facts.push("focused");
  if (window.minimized) facts.push("minimized");
  const button = h(
    "button",
    { type: "button", "aria-current": isChosen ? "true" : null, "data-uid": window.window_uid, title: window.window_uid },
    h("span", { class: "window-title" }, window.title || "(no title)"),
    h("span", { class: "note" }, facts.filter(Boolean).join(" · ")),
  );
  button.addEventListener("click", () => choose(window.window_uid));
  return h("li", {}, button);
}

function choose(uid) {
  state.uid = uid;
  select(null);
  look();
}
