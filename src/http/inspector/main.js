// Starts the parts of the page and joins them: tabs, refreshing, theme, notices.

import { get, tool } from "./server.js";
import * as actions from "./actions.js";
import * as approvals from "./approvals.js";
import * as description from "./description.js";
import * as detail from "./detail.js";
import { $, toggle } from "./dom.js";
import * as halt from "./halt.js";
import * as picture from "./picture.js";
import * as search from "./search.js";
import { startNotices, startTheme } from "./shell.js";
import * as sketch from "./sketch.js";
import { on, state, tell } from "./store.js";
import * as timeline from "./timeline.js";
import * as traces from "./traces.js";
import * as tree from "./tree.js";
import { look } from "./view.js";
import * as windows from "./windows.js";

const TABS = ["screenshot", "sketch", "description", "actions", "traces", "jobs"];
const REFRESH_MS = 3000;

function startTabs() {
  TABS.forEach((name) => {
    const tab = $(`tab-${name}`);
    tab.addEventListener("click", () => show(name));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const open = TABS.filter((other) => !$(`tab-${other}`).hidden);
      const next = open[(open.indexOf(name) + step + open.length) % open.length];
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
  state.tab = name;
  document.documentElement.dataset.tab = name;
  tell("tab", name);
}

function startRefreshing() {
  $("refresh").addEventListener("click", look);
  // Who looks at jobs does not look at windows.
  setInterval(() => $("auto-refresh").checked && !document.hidden && state.tab !== "jobs" && look(), REFRESH_MS);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "r" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) look();
    if (event.key === "/" && !typing) {
      event.preventDefault();
      $("selector").focus();
    }
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

/** Where this server takes jobs; elsewhere nothing of it is fetched. */
async function showJobs() {
  const { tools = [] } = await get("/api/tools");
  if (!tools.includes("list_jobs")) return;
  const [jobs, jobForm] = await Promise.all([import("./jobs.js"), import("./job_form.js")]);
  toggle($("tab-jobs"), true);
  on("tab", (name) => jobs.look(name === "jobs"));
  if (tools.includes("run_job")) jobForm.start();
  jobs.start({ readOnly: !tools.includes("job_control") });
}

startNotices();
on("unauthorized", () => tell("notice", "This server needs a token. Open the link that it printed when it started."));
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
  showJobs();
}));
