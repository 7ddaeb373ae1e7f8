// One look at the selected window: its elements in order, its sketch, its picture.
//
// The elements come with the sketch, so that a tree row, a box and a cell always speak of the same moment.

import { message, tool } from "./server.js";
import { select, state, tell } from "./store.js";

let running = null;
let again = false;

/** Looks again. Calls that come while a look is under way make one more after it. */
export function look() {
  if (running) {
    again = true;
    return running;
  }
  running = readAll().finally(() => {
    running = null;
    if (again) {
      again = false;
      look();
    }
  });
  return running;
}

async function readAll() {
  // The first look asks for the focused window's elements, whichever it is, together with the list.
  const early = state.windows.length ? null : readSketch({});
  await readWindows();
  const where = chosenWindow();
  if (!where) {
    state.look = null;
    tell("look", null);
    return;
  }
  const wants = { window_uid: where.window_uid };
  const picture = tool("get_screenshot", wants);
  const first = await early;
  const sketch = first?.window === where.title ? first : await readSketch(wants);
  const seen = { window: where, sketch, picture: null, elements: elementsOf(sketch) };
  // A window that is new here shows its elements before its picture; another look comes as a whole.
  if (state.look?.window.window_uid !== where.window_uid) showLook(seen);
  showLook({ ...seen, picture: await picture });
}

function readSketch(window) {
  const ocr = document.getElementById("sketch-ocr").checked;
  return tool("get_screen_sketch", { ...window, structured: true, ...(ocr ? { ocr: true } : {}) });
}

function showLook(seen) {
  state.look = seen;
  tell("look", seen);
  if (state.selected && !seen.elements.byId.has(state.selected)) select(null);
}

async function readWindows() {
  const reply = await tool("list_windows");
  if (!reply.ok) tell("notice", message(reply));
  state.windows = reply.windows ?? [];
  tell("windows", state.windows);
}

export function chosenWindow() {
  return (
    state.windows.find((window) => window.window_uid === state.uid) ??
    state.windows.find((window) => window.focused) ??
    state.windows[0]
  );
}

/** The flat list with its shape: who is below whom, from the ids (`root.0.3`). */
function elementsOf(sketch) {
  const list = (sketch.elements ?? []).map((element) => ({ ...element, children: [], depth: element.id.split(".").length - 1 }));
  const byId = new Map(list.map((element) => [element.id, element]));
  for (const element of list) {
    const parent = byId.get(element.id.slice(0, element.id.lastIndexOf(".")));
    if (parent && parent !== element) {
      element.parent = parent;
      parent.children.push(element);
    }
  }
  return { list, byId };
}

export function elementById(id) {
  return state.look?.elements.byId.get(id) ?? null;
}

/** The innermost element at a point of the screen; of equals the later one, which lies on top. */
export function elementAt(x, y) {
  let best = null;
  let bestArea = Infinity;
  for (const element of state.look?.elements.list ?? []) {
    const box = element.bounds_screen;
    if (!box || element.occluded || box.width < 1 || box.height < 1) continue;
    const inside = x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height;
    const area = box.width * box.height;
    if (inside && area <= bestArea) {
      best = element;
      bestArea = area;
    }
  }
  return best;
}

export function label(element) {
  return element.name ? `${element.role} "${element.name}"` : element.role;
}
