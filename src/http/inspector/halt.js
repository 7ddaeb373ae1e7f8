// The stop button: nothing acts while it is down, whoever asks.

import { get, message, post } from "./server.js";
import { $ } from "./dom.js";
import { on, state, tell } from "./store.js";

export async function start() {
  $("halt").addEventListener("click", press);
  on("halt", show);
  show(await get("/api/halt"));
}

async function press() {
  const reply = await post(state.halted ? "/api/halt/release" : "/api/halt", {});
  if (reply.ok === false) tell("notice", message(reply));
  else show(reply);
}

function show(reply) {
  if (typeof reply?.halted !== "boolean") return;
  state.halted = reply.halted;
  const button = $("halt");
  button.setAttribute("aria-pressed", String(reply.halted));
  button.textContent = reply.halted ? "Resume agent" : "Stop the agent";
  document.documentElement.classList.toggle("halted", reply.halted);
  tell("notice", reply.halted ? `Agent stopped (${reply.reason}). All input is blocked until you resume.` : "");
}
