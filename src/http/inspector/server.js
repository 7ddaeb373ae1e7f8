// The server, as this page uses it. Tools go through the same gate as an agent's calls.

import { tell } from "./store.js";

const KEPT = "oso-token";

/** The token comes once, behind the # of the link, and is kept for this tab only. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) {
    sessionStorage.setItem(KEPT, given);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(KEPT);
}

let token = takeToken();

/** What a person typed in, where no link brings it. */
export function keepToken(given) {
  token = given;
  sessionStorage.setItem(KEPT, given);
}

export function hasToken() {
  return Boolean(token);
}

function headers(more = {}) {
  return { ...(token ? { authorization: `Bearer ${token}` } : {}), ...more };
}

async function answer(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return { ok: false, error: { code: "Internal", message: `the server answered ${response.status}: ${text.slice(0, 200)}` } };
  }
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { cache: "no-store", ...options, headers: headers(options.headers) });
  } catch {
    tell("offline", true);
    return { ok: false, error: { code: "Offline", message: "the server does not answer; is it still running?" } };
  }
  tell("offline", false);
  if (response.status === 401) tell("unauthorized");
  return answer(response);
}

export function get(path) {
  return request(path);
}

export function post(path, body = {}) {
  return request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
}

export function tool(name, args = {}) {
  return post(`/api/tool/${encodeURIComponent(name)}`, args);
}

/** Something that an <img> cannot fetch, because it cannot carry the token. */
export async function blobUrl(path) {
  const response = await fetch(path, { cache: "no-store", headers: headers() });
  return response.ok ? URL.createObjectURL(await response.blob()) : null;
}

export async function text(path) {
  const response = await fetch(path, { cache: "no-store", headers: headers() });
  if (!response.ok) throw new Error((await answer(response)).error?.message ?? `status ${response.status}`);
  return response.text();
}

export function message(reply) {
  const error = reply?.error;
  if (!error) return "";
  return typeof error === "string" ? error : `${error.code}: ${error.message}`;
}

/** Server-sent events by fetch, because an EventSource cannot carry the token. Reconnects by itself. */
export async function listen(onEvent, onState) {
  for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
    try {
      const response = await fetch("/api/events", { cache: "no-store", headers: headers({ accept: "text/event-stream" }) });
      if (!response.ok) throw new Error(`status ${response.status}`);
      onState("live");
      pause = 500;
      await readEvents(response.body.getReader(), onEvent);
    } catch {
      // Told below, together with an ended stream.
    }
    onState("not connected");
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function readEvents(reader, onEvent) {
  const decoder = new TextDecoder();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += decoder.decode(value, { stream: true });
    let end;
    while ((end = buffer.indexOf("\n\n")) >= 0) {
      deliver(buffer.slice(0, end), onEvent);
      buffer = buffer.slice(end + 2);
    }
  }
}

function deliver(block, onEvent) {
  const fields = { event: "message", data: [] };
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const [name, value] = [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
    if (name === "data") fields.data.push(value);
    else fields[name] = value;
  }
  if (!fields.data.length) return;
  try {
    onEvent(fields.event, JSON.parse(fields.data.join("\n")));
  } catch {
    // A part that is not JSON is none of ours.
  }
}

/** The token as the name of a protocol, which may not have every character that a token has. */
function tokenProtocol() {
  return `bearer.${encodeURIComponent(token).replace(/[()]/g, (bracket) => `%${bracket.charCodeAt(0).toString(16)}`)}`;
}

/** What happens to jobs, by WebSocket. Reconnects by itself and goes on after the last event that it brought. */
export function watchJobs(onEvent, onState) {
  let after = null;
  let pause = 500;
  const connect = () => {
    const query = after === null ? "" : `?after=${after}`;
    const protocols = token ? ["jobs", tokenProtocol()] : ["jobs"];
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/ws${query}`, protocols);
    socket.addEventListener("open", () => {
      pause = 500;
      onState("live");
    });
    socket.addEventListener("message", (received) => {
      const event = JSON.parse(received.data);
      after = event.number ?? after;
      onEvent(event);
    });
    socket.addEventListener("close", () => {
      onState("not connected");
      setTimeout(connect, pause);
      pause = Math.min(pause * 2, 8000);
    });
  };
  connect();
}
