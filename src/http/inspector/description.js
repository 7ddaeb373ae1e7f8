// The description, a section for each source, and which sources had something to say.

import { message, tool } from "./server.js";
import { $, h, replace } from "./dom.js";
import { on, state } from "./store.js";

const SOURCES = [
  ["accessibility", "What the application exposes."],
  ["ocr", "Text that OCR reads."],
  ["vlm", "What a vision model says about the screenshot."],
];
let wanted = false;

export function start() {
  on("tab", (name) => {
    wanted = name === "description";
    if (wanted) read();
  });
  on("look", () => wanted && read());
}

async function read() {
  const window = state.look?.window;
  if (!window) return;
  if (!$("description").hasChildNodes()) replace($("description"), h("p", { class: "note" }, "Reading…"));
  const reply = await tool("get_screen_description", { window_uid: window.window_uid });
  if (!reply.ok) {
    replace($("badges"));
    replace($("description"), h("p", { class: "note" }, message(reply)));
    return;
  }
  show(sections(reply.description));
}

/** The text has a line `[source]` before each part. */
function sections(text) {
  const found = new Map();
  let name = "accessibility";
  for (const line of text.split("\n")) {
    const head = /^\[(accessibility|ocr|vlm)\]$/.exec(line);
    if (head) name = head[1];
    else found.set(name, [...(found.get(name) ?? []), line]);
  }
  return found;
}

function show(found) {
  const ran = (name) => found.has(name) && !/^(not available|unavailable|disabled)/i.test(found.get(name).join(" ").trim());
  replace($("badges"), SOURCES.map(([name]) => h("span", { class: ran(name) ? "badge on" : "badge" }, `${name} ${ran(name) ? "✓" : "–"}`)));
  replace(
    $("description"),
    SOURCES.map(([name, what]) =>
      h(
        "section",
        {},
        h("h3", {}, name, " ", h("span", { class: "note" }, what)),
        found.has(name)
          ? h("pre", {}, found.get(name).join("\n").trim() || "(nothing)")
          : h("p", { class: "note" }, hint(name)),
      ),
    ),
  );
}

function hint(name) {
  return name === "vlm"
    ? "No model is configured. Set vlm.enabled, vlm.base_url and vlm.model in the config file, or run the program with `models --pick`."
    : "This source returned nothing. Run the program with `doctor` to see why.";
}
