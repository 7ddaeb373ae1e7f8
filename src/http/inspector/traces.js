// Recorded sessions, looked at in place: the same page that `trace export --html` writes.

import { get, message, text, tool } from "./server.js";
import { $, h, replace } from "./dom.js";
import { on } from "./store.js";

export function start() {
  on("tab", (name) => name === "traces" && list());
}

async function list() {
  const reply = await get("/api/traces");
  const traces = reply.traces ?? [];
  const status = await tool("trace_status");
  replace(
    $("traces"),
    h("div", { class: "panel-tools" }, recorder(status), h("span", { class: "note" }, reply.ok === false ? message(reply) : `${traces.length} recorded`)),
    h("ul", { class: "traces" }, traces.map(entry)),
    h("div", { id: "trace-page" }),
  );
}

function recorder(status) {
  const active = Boolean(status.active ?? status.tracing);
  const button = h("button", { type: "button" }, active ? "Stop recording" : "Record a trace");
  button.addEventListener("click", async () => {
    await tool(active ? "trace_stop" : "trace_start");
    list();
  });
  return button;
}

function entry(trace) {
  const button = h("button", { type: "button" }, trace.id, " ", h("span", { class: "note" }, [trace.started_at, trace.steps !== undefined && `${trace.steps} steps`].filter(Boolean).join(" · ")));
  button.addEventListener("click", () => open(trace.id));
  return h("li", {}, button);
}

/** The page is put into a shadow tree, so that its style and ours do not meet; its script does not run. */
async function open(id) {
  const place = $("trace-page");
  try {
    const { style, body } = split(await text(`/api/traces/${encodeURIComponent(id)}`));
    const host = h("div", { class: "trace-host" });
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    root.append(...new DOMParser().parseFromString(body, "text/html").body.childNodes);
    chooseSteps(root);
    replace(place, host);
  } catch (problem) {
    replace(place, h("p", { class: "note" }, `The trace cannot be shown: ${problem.message}`));
  }
}

/** Style and script are taken out before the page is parsed: our policy allows neither. */
function split(page) {
  const style = [...page.matchAll(/<style[^>]*>([^]*?)<\/style>/g)].map((match) => match[1]).join("\n").replace(/(^|[\s,}])(?::root|html|body)(?=[\s,{])/g, "$1:host");
  const body = page.replace(/<(style|script)\b[^>]*>[^]*?<\/\1>/g, "").replace(/<meta[^>]*>/g, "");
  return { style, body };
}

function chooseSteps(root) {
  const links = [...root.querySelectorAll('nav a[href^="#"]')];
  const show = (link) => {
    for (const other of links) {
      const step = root.getElementById(other.getAttribute("href").slice(1));
      if (step) step.hidden = other !== link;
      other.toggleAttribute("aria-current", other === link);
    }
  };
  for (const link of links) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      show(link);
    });
  }
  if (links.length) show(links[0]);
}
