"""Tests the server through the Python client library `mcp` 2.x, in both protocol eras.

    python_client.py [SERVER]        (or SERVER_UNDER_TEST; default: the release build)
"""

import sys
from contextlib import asynccontextmanager

import anyio
from checks import MOCK, PROJECT, Desk, Refused, as_wire, run_all
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

# How to connect, and the revision that has to come of it.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


class ClientDesk(Desk):
    def __init__(self, mode):
        super().__init__()
        self.mode, self.client = mode, None

    async def list_tools(self):
        listing = await self.client.list_tools()
        return [as_wire(tool) for tool in listing.tools]

    async def call(self, name, arguments, on_progress=None):
        try:
            return as_wire(await self.client.call_tool(name, arguments, progress_callback=on_progress))
        except MCPError as error:
            raise Refused(str(error)) from error


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


EXTRA_CHECKS = [(the_era_is_the_expected_one, MOCK), (abandoned_calls_leave_the_server_well, MOCK)]

if __name__ == "__main__":
    sys.exit(anyio.run(run_all, "python mcp 2", MODES, connect, EXTRA_CHECKS))
