"""Tests the server through the Python client library `mcp` 2.x, in both protocol eras.

    python_client.py [SERVER]        (or SERVER_UNDER_TEST; default: the release build)
"""

import sys
from contextlib import asynccontextmanager

import anyio
from checks import LOGIN, MOCK, PROJECT, Desk, Refused, as_wire, run_all
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ResourceTemplateReference

# How to connect, and the revision that has to come of it.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


class ClientDesk(Desk):
    def __init__(self, mode):
        super().__init__()
        self.mode, self.client = mode, None
        self.updated = []

    async def list_tools(self):
        listing = await self.client.list_tools()
        return [as_wire(tool) for tool in listing.tools]

    async def call(self, name, arguments, on_progress=None):
        try:
            return as_wire(await self.client.call_tool(name, arguments, progress_callback=on_progress))
        except MCPError as error:
            raise Refused(str(error)) from error

    async def list_resources(self):
        return [as_wire(resource) for resource in (await self.client.list_resources()).resources]

    async def read_resource(self, uri):
        try:
            return as_wire((await self.client.read_resource(uri)).contents[0])
        except MCPError as error:
            raise Refused(str(error)) from error

    async def list_prompts(self):
        return [as_wire(prompt) for prompt in (await self.client.list_prompts()).prompts]

    async def get_prompt(self, name, arguments):
        try:
            return as_wire(await self.client.get_prompt(name, arguments))
        except MCPError as error:
            raise Refused(str(error)) from error

    async def complete(self, template, argument, value):
        reference = ResourceTemplateReference(type="ref/resource", uri=template)
        answer = await self.client.complete(reference, {"name": argument, "value": value})
        return answer.completion.values

    async def on_message(self, message):
        await super().on_message(message)
        if getattr(message, "method", None) == "notifications/resources/updated":
            self.updated.append(str(message.params.uri))


@asynccontextmanager
async def connect(server, flags, mode, log):
    desk = ClientDesk(mode)
    transport = stdio_client(StdioServerParameters(command=server, args=flags, cwd=PROJECT), errlog=log)
    async with Client(transport, mode=mode, message_handler=desk.on_message) as client:
        desk.client = client
        desk.protocol_version = client.protocol_version
        desk.server_name = client.server_info and client.server_info.name
        desk.instructions = client.instructions
        yield desk


async def the_era_is_the_expected_one(desk, report):
    report.check(f"{desk.mode} speaks {MODES[desk.mode]}", desk.protocol_version == MODES[desk.mode], desk.protocol_version)


async def abandoned_calls_leave_the_server_well(desk, report):
    """A call that the client gives up sends a cancellation; the server has to live on and answer the next."""

    async def abandon():
        try:
            await desk.client.call_tool("get_full_screenshot", {"window_index": 0}, read_timeout_seconds=0.0001)
        except MCPError:
            return

    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(abandon)
    report.check("the server answers after cancelled calls", (await desk.reply("list_windows", {}))["count"] == 3)


OUTLINE = "screen://window/mock:app/outline"


async def changes_are_told(desk, report):
    """In the way of the era: by a subscription, or by a stream of events."""

    async def type_a_name():
        await desk.reply("set_value", {"selector": '//Edit[name="Username"]', "value": "alice"})

    if desk.protocol_version == "2026-07-28":
        async with desk.client.listen(resource_subscriptions=[OUTLINE], resources_list_changed=True) as events:
            await type_a_name()
            # What happens before the server's first look may be told of everything that is followed.
            told = [await anext(events)]
            while getattr(told[-1], "uri", None) != OUTLINE:
                told.append(await anext(events))
        report.check("a change is told", len(told) <= 2, told)
        return
    await desk.client.subscribe_resource(OUTLINE)
    await type_a_name()
    with anyio.move_on_after(5):
        while not desk.updated:
            await anyio.sleep(0.02)
    report.check("a change is told", desk.updated == [OUTLINE], desk.updated)
    await desk.client.unsubscribe_resource(OUTLINE)


EXTRA_CHECKS = [(changes_are_told, LOGIN), (the_era_is_the_expected_one, MOCK), (abandoned_calls_leave_the_server_well, MOCK)]

if __name__ == "__main__":
    sys.exit(anyio.run(run_all, "python mcp 2", MODES, connect, EXTRA_CHECKS))
