"""Serves MiniWoB++'s pages on loopback, starts each episode by its seed, and hears from the page itself what it rewards.

The page is steered and judged from here, outside of the server under test: what works the page sees nothing of it.
"""
import functools, http.server, pathlib, queue, threading, urllib.parse

# Runs in every page: the seed, no end of time, and the page's own raw reward told to this judge. Then it waits for the
# next page to go to.
SCRIPT = """<script>
addEventListener('load', () => setTimeout(() => {
  const wanted = new URLSearchParams(location.search), seed = wanted.get('seed');
  const tell = (what) => fetch('/judge/' + what + '&number=' + wanted.get('number'), { method: 'POST' });
  fetch('/next?number=' + wanted.get('number')).then((answer) => answer.text()).then((url) => location.replace(url));
  if (typeof core === 'undefined') return tell('ready?');
  core.EPISODE_MAX_TIME = 3600000;
  const end = core.endEpisode;
  core.endEpisode = (reward, proportional, reason) => {
    if (core.EP_TIMER !== null) tell('reward?value=' + reward);
    end(reward, proportional, reason);
  };
  Math.seedrandom(seed);
  core.startEpisodeReal();
  tell('ready?');
}, 0));
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, *arguments, judge, **named):
        self.judge = judge
        super().__init__(*arguments, directory=judge.folder, **named)

    def log_message(self, *_):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "max-age=3600" if "/core/" in self.path else "no-store")
        super().end_headers()

    def answer(self, text, kind="text/html; charset=utf-8"):
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        if parts.path == "/next":
            number = int(urllib.parse.parse_qs(parts.query)["number"][0])
            return self.answer(self.judge.next_page(number), "text/plain")
        if parts.path == "/idle":
            return self.answer("<!doctype html><title>Idle</title>" + SCRIPT)
        if parts.path.endswith(".html"):
            page = pathlib.Path(self.judge.folder, parts.path.lstrip("/")).read_text()
            return self.answer(page.replace("<head>", "<head>" + SCRIPT, 1))
        super().do_GET()

    def do_POST(self):
        parts = urllib.parse.urlsplit(self.path)
        said = {key: values[0] for key, values in urllib.parse.parse_qs(parts.query).items()}
        self.judge.said.put((parts.path.rsplit("/", 1)[1], int(said["number"]), float(said.get("value", 0))))
        self.answer("", "text/plain")


class Judge:
    """One page after the other: `start` opens an episode, `reward` tells what came of it."""

    def __init__(self, folder):
        self.folder, self.number, self.url = str(folder), 0, ""
        self.said, self.turn = queue.Queue(), threading.Condition()
        handler = functools.partial(Handler, judge=self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        self.first = f"{self.base}/idle?number=0&seed=0"

    def next_page(self, number):
        with self.turn:
            self.turn.wait_for(lambda: self.number > number)
            return self.url

    def start(self, task, seed):
        with self.turn:
            self.number += 1
            # Not the same words for all tasks: what was typed as a password once is hidden by the server from then on.
            self.url = f"{self.base}/miniwob/{task}.html?number={self.number}&seed={task}-{seed}"
            self.turn.notify_all()
        assert self.hear("ready", 15) is not None, f"{task} does not start"

    def hear(self, what, seconds):
        """What the page of this episode says, or nothing within the time."""
        import time
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                said, number, value = self.said.get(timeout=left)
            except queue.Empty:
                return None
            if said == what and number == self.number:
                return value
        return None

    def reward(self, seconds=2):
        return self.hear("reward", seconds)
