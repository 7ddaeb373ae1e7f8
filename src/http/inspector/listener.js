// The page of ScreenJob's listener: the jobs, to look at. It asks for the token before it asks for anything else.

import { $, toggle } from "./dom.js";
import * as jobs from "./jobs.js";
import { get, hasToken, keepToken, message } from "./server.js";
import { startNotices, startTheme } from "./shell.js";
import { on } from "./store.js";

let watching = false;

function askForToken(said = "") {
  toggle($("job-view"), false);
  toggle($("token-form"), true);
  $("token-said").textContent = said;
  $("token").focus();
}

async function tryToken() {
  const stats = await get("/api/stats");
  if (stats.ok !== true) return askForToken(message(stats));
  toggle($("token-form"), false);
  toggle($("job-view"), true);
  $("all-jobs").textContent = `${stats.jobs} jobs, to look at`;
  if (!watching) jobs.start({ readOnly: true });
  watching = true;
  jobs.look(true);
}

startNotices();
startTheme();
// It may have changed while the page was open.
on("unauthorized", () => askForToken());
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken($("token").value.trim());
  $("token").value = "";
  tryToken();
});
if (hasToken()) tryToken();
else askForToken();
