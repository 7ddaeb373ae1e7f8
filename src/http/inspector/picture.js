// The picture of the window, with the boxes of its elements drawn over it.

import { message, tool } from "./server.js";
import { $ } from "./dom.js";
import { hover, on, select, state } from "./store.js";
import { elementAt, elementById } from "./view.js";

let regions = [];

export function start() {
  on("look", show);
  on("hover", draw);
  on("select", draw);
  on("matches", draw);
  on("theme", draw);
  $("all-boxes").addEventListener("change", draw);
  $("visible-areas").addEventListener("change", readRegions);
  const picture = $("picture");
  picture.addEventListener("pointermove", (event) => hover(under(event)?.id ?? null));
  picture.addEventListener("pointerleave", () => hover(null));
  picture.addEventListener("click", (event) => select(under(event)?.id ?? null));
  new ResizeObserver(draw).observe(picture);
}

async function show(look) {
  const image = $("picture-image");
  const reply = look?.picture;
  if (!reply?.data) {
    image.hidden = true;
    $("picture-note").textContent = absence(look);
    draw();
    return;
  }
  image.src = `data:image/${reply.format};base64,${reply.data}`;
  image.hidden = false;
  $("picture-note").textContent = `${reply.width} × ${reply.height} pixels`;
  try {
    await image.decode();
  } catch {
    $("picture-note").textContent = "The screenshot could not be decoded.";
  }
  await readRegions();
  draw();
}

function absence(look) {
  if (!look) return "No window is selected.";
  if (!look.picture) return "Loading the screenshot…";
  return message(look.picture) || "There is no screenshot.";
}

async function readRegions() {
  regions = [];
  if ($("visible-areas").checked && state.look) {
    const reply = await tool("get_visible_areas", { window_uid: state.look.window.window_uid });
    regions = reply.visible_regions ?? [];
    if (!reply.ok) $("picture-note").textContent = message(reply);
  }
  draw();
}

/** What part of the screen the picture shows. */
function area() {
  return state.look?.picture?.source_bbox ?? state.look?.window?.bounds ?? null;
}

function under(event) {
  const shown = $("picture-image").getBoundingClientRect();
  const part = area();
  if (!part || !shown.width) return null;
  const x = part.x + ((event.clientX - shown.left) / shown.width) * part.width;
  const y = part.y + ((event.clientY - shown.top) / shown.height) * part.height;
  return elementAt(x, y);
}

function draw() {
  const canvas = $("picture-boxes");
  const image = $("picture-image");
  const part = area();
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(image.clientWidth * ratio);
  canvas.height = Math.round(image.clientHeight * ratio);
  if (image.hidden || !part || !canvas.width) return;
  const pen = canvas.getContext("2d");
  const scale = canvas.width / part.width;
  const colours = getComputedStyle(document.documentElement);
  const box = (bounds, colour, width, fill) => {
    if (!bounds || bounds.width < 1 || bounds.height < 1) return;
    const place = [(bounds.x - part.x) * scale, (bounds.y - part.y) * scale, bounds.width * scale, bounds.height * scale];
    if (fill) {
      pen.globalAlpha = 0.2;
      pen.fillStyle = colour;
      pen.fillRect(...place);
      pen.globalAlpha = 1;
    }
    pen.strokeStyle = colour;
    pen.lineWidth = width * ratio;
    pen.strokeRect(...place);
  };
  const colour = (name) => colours.getPropertyValue(name).trim();
  for (const region of regions) box(region, colour("--good"), 2, true);
  if ($("all-boxes").checked) {
    for (const element of state.look.elements.list) if (!element.occluded) box(element.bounds_screen, colour("--faint-box"), 1);
  }
  for (const id of state.matches ?? []) box(elementById(id)?.bounds_screen, colour("--match"), 2, true);
  box(elementById(state.selected)?.bounds_screen, colour("--accent"), 3);
  box(elementById(state.hovered)?.bounds_screen, colour("--warm"), 2, true);
}

