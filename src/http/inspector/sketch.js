// The sketch that an agent can read, with the cell of the element under the pointer lit.

import { message } from "./server.js";
import { $, toggle } from "./dom.js";
import { hover, on, select, state } from "./store.js";
import { elementById, look } from "./view.js";

export function start() {
  on("look", show);
  on("hover", light);
  on("select", light);
  $("sketch-ocr").addEventListener("change", look);
  $("sketch").addEventListener("pointermove", (event) => hover(under(event)?.id ?? null));
  $("sketch").addEventListener("pointerleave", () => hover(null));
  $("sketch").addEventListener("click", (event) => select(under(event)?.id ?? null));
}

function show(look) {
  const reply = look?.sketch;
  $("sketch").textContent = reply?.sketch ?? "";
  const size = reply?.grid_width ? `${reply.grid_width} × ${reply.grid_height} characters` : "";
  $("sketch-note").textContent = (reply && message(reply)) || reply?.warning || size;
  light();
}

/** The size of one character: measured, because fonts differ. */
function cellSize() {
  const page = $("sketch");
  const style = getComputedStyle(page);
  const probe = document.createElement("span");
  probe.textContent = "─".repeat(100);
  page.append(probe);
  const width = probe.getBoundingClientRect().width / 100;
  probe.remove();
  return { width, height: parseFloat(style.lineHeight) };
}

function under(event) {
  const page = $("sketch").getBoundingClientRect();
  const cell = cellSize();
  const x = Math.floor((event.clientX - page.left) / cell.width);
  const y = Math.floor((event.clientY - page.top) / cell.height);
  let best = null;
  let bestArea = Infinity;
  for (const element of state.look?.elements.list ?? []) {
    const grid = element.bounds_grid;
    if (!grid || element.occluded) continue;
    const [x1, y1, x2, y2] = grid;
    const size = (x2 - x1 + 1) * (y2 - y1 + 1);
    if (x >= x1 && x <= x2 && y >= y1 && y <= y2 && size <= bestArea) {
      best = element;
      bestArea = size;
    }
  }
  return best;
}

function light() {
  const grid = (elementById(state.hovered) ?? elementById(state.selected))?.bounds_grid;
  const mark = $("sketch-cell");
  toggle(mark, Boolean(grid));
  if (!grid) return;
  const cell = cellSize();
  const [x1, y1, x2, y2] = grid;
  mark.style.left = `${x1 * cell.width}px`;
  mark.style.top = `${y1 * cell.height}px`;
  mark.style.width = `${(x2 - x1 + 1) * cell.width}px`;
  mark.style.height = `${(y2 - y1 + 1) * cell.height}px`;
}
