"""Works a page end to end through the Python client library `mcp` 2.x: open, fill in, send, read.

    page_client.py [SERVER]        (or SERVER_UNDER_TEST; needs a Chromium)

The page is one of tests/browser/site, from a server of this program on loopback. What the page says at the end is what it
was sent, so nothing is taken from the replies alone.
"""

import functools
import http.server
import json
import os
import re
import sys
import threading
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PROJECT = Path(__file__).resolve().parents[2]
SITE = PROJECT / "tests/browser/site"
SECONDS = 120

# The pages are ours, and tests run as root in containers, where the browser's sandbox does not start.
SETTINGS = {"OSO_BROWSER__SANDBOX": "false"}
MOST_BYTES_OF_TOOLS = 10_000


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve_site():
    handler = functools.partial(Quiet, directory=SITE)
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{site.server_port}"


def must(what, holds, found):
    if not holds:
        raise SystemExit(f"FAILED: {what}: {found}")
    print(f"ok  {what}")


async def lines(client, tool, arguments):
    """The text of a reply; a refusal ends the test."""
    reply = await client.call_tool(tool, arguments)
    text = "\n".join(block.text for block in reply.content if block.type == "text")
    if reply.is_error:
        raise SystemExit(f"FAILED: {tool} {arguments}: {text}")
    return text


def ref_of(look, words):
    found = re.search(rf"(e\d+) {words}", look)
    must(f"{words} has a ref", found, look)
    return found.group(1)


async def work_the_page(client, site):
    tools = await client.list_tools()
    size = len(tools.model_dump_json(exclude_none=True))
    must(f"the list of tools has {size} bytes", size <= MOST_BYTES_OF_TOOLS, size)
    opened = await lines(client, "open_url", {"url": f"{site}/form.html"})
    must("open_url tells the page and shows it", '200 "Sign up"' in opened and 'Edit "Name"' in opened, opened)
    must("no secret of the page is shown", "hunter22" not in opened, opened)
    steps = [
        {"do": "set_value", "ref": ref_of(opened, 'Edit "Name"'), "value": "Ada"},
        {"do": "set_value", "ref": ref_of(opened, 'Edit "Mail"'), "value": "ada@example.org"},
        {"do": "select_option", "ref": ref_of(opened, 'ComboBox "Colour"'), "option_name": "Green"},
        {"do": "click_element", "ref": ref_of(opened, 'CheckBox "Agree"')},
        {"do": "click_element", "ref": ref_of(opened, 'Button "Send"'), "expect": "text: sent name=Ada"},
    ]
    acted = await lines(client, "act", {"steps": steps})
    must("a form is filled in and sent by one call", "confirmed" in acted, acted)
    read = await lines(client, "read_page", {"part": "whole", "format": "text"})
    sent = "sent name=Ada&mail=ada%40example.org"
    must("the page read as text says what was sent", sent in read and "colour=Green" in read and "agree=on" in read, read)
    article = await lines(client, "open_url", {"url": f"{site}/pages.html"})
    must("another page is opened", '"Pages"' in article, article)
    text = await lines(client, "read_page", {})
    must("an article is read as Markdown", "# About pens" in text and "| Pen | 2 |" in text, text)


async def main():
    server = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SERVER_UNDER_TEST", "target/release/os-screen-observer")
    flags = ["--mode", "mcp", "--log", "warning", "--profile", "web", "--browser"]
    site = serve_site()
    allowed = {"OSO_BROWSER__NETWORK_ALLOW": json.dumps([site.removeprefix("http://")])}
    environment = {**os.environ, **SETTINGS, **allowed}
    parameters = StdioServerParameters(command=server, args=flags, cwd=PROJECT, env=environment)
    with anyio.fail_after(SECONDS):
        async with Client(stdio_client(parameters)) as client:
            await work_the_page(client, site)
    print("the page was worked end to end")


if __name__ == "__main__":
    anyio.run(main)
