// What every page of this server has: a theme, and a line for notices.

import { $, toggle } from "./dom.js";
import { on, tell } from "./store.js";

const KEPT_THEME = "oso-theme";

/** The system's choice, until a person makes one here. */
export function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    document.documentElement.dataset.theme = localStorage.getItem(KEPT_THEME) ?? (dark.matches ? "dark" : "light");
    tell("theme");
  };
  dark.addEventListener("change", apply);
  $("theme").addEventListener("click", () => {
    localStorage.setItem(KEPT_THEME, document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    apply();
  });
  apply();
}

export function startNotices() {
  let said = "";
  const say = (text) => {
    said = text ?? "";
    $("notice").textContent = said;
    toggle($("notice"), Boolean(said));
  };
  on("notice", say);
  on("offline", (offline) => {
    if (offline) say("The server does not answer. Is it still running?");
    else if (said.startsWith("The server does not answer")) say("");
  });
}
