// Starts the parts of the page and joins them: tabs, refreshing, theme, notices.

import { tool } from "./server.js";
import * as actions from "./actions.js";
import * as approvals from "./approvals.js";
import * as description from "./description.js";
import * as detail from "./detail.js";
import { $, toggle } from "./dom.js";
import * as halt from "./halt.js";
import * as picture from "./picture.js";
import * as search from "./search.js";
import * as sketch from "./sketch.js";
import { on, tell } from "./store.js";
import * as timeline from "./timeline.js";
import * as traces from "./traces.js";
import * as tree from "./tree.js";
import { look } from "./view.js";
import * as windows from "./windows.js";

const TABS = ["screenshot", "sketch", "description", "actions", "traces"];
const REFRESH_MS = 3000;
const KEPT_THEME = "oso-theme";

function startTabs() {
  TABS.forEach((name, index) => {
    const tab = $(`tab-${name}`);
    tab.addEventListener("click", () => show(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(index + step + TABS.length) % TABS.length];
      show(next);
      $(`tab-${next}`).focus();
    });
  });
  show(TABS[0]);
}

function show(name) {
  for (const other of TABS) {
    const chosen = other === name;
    $(`tab-${other}`).setAttribute("aria-selected", String(chosen));
    $(`tab-${other}`).tabIndex = chosen ? 0 : -1;
    toggle($(`panel-${other}`), chosen);
  }
  tell("tab", name);
}

function startRefreshing() {
  $("refresh").addEventListener("click", look);
  setInterval(() => $("auto-refresh").checked && !document.hidden && look(), REFRESH_MS);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "r" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) look();
    if (event.key === "/" && !typing) {
      event.preventDefault();
      $("selector").focus();
    }
  });
}

/** The system's choice, until a person makes one here. */
function startTheme() {
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

function startNotices() {
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

/** What can wait until the first window is shown. */
function atFirst(work) {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

async function showDesktop() {
  const facts = await tool("get_capabilities");
  if (!facts.ok) return;
  const name = facts.adapter === "MockAdapter" ? "mock desktop" : `${facts.platform} desktop`;
  $("desktop-facts").textContent = `${name} · version ${facts.version}`;
}

startNotices();
startTheme();
startTabs();
for (const part of [windows, picture, tree, sketch, detail, search, description]) part.start();
// What a person came for is asked first: a browser has few connections to one server.
look();
for (const part of [timeline, approvals, halt, traces]) part.start();
startRefreshing();
on("look", atFirst(() => {
  showDesktop();
  actions.start();
}));
