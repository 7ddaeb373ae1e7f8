"""Tests the server through the Python client library `mcp` 1.x, which knows only the older protocol era.

    python_client_v1.py [SERVER]     (or SERVER_UNDER_TEST; default: the release build)
"""

import sys
from contextlib import asynccontextmanager

import anyio
from checks import PROJECT, Desk, Refused, as_wire, run_all
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ResourceTemplateReference
from pydantic import AnyUrl


class SessionDesk(Desk):
    def __init__(self):
        super().__init__()
        self.session = None

    async def list_tools(self):
        listing = await self.session.list_tools()
        return [as_wire(tool) for tool in listing.tools]

    async def call(self, name, arguments, on_progress=None):
        try:
            return as_wire(await self.session.call_tool(name, arguments, progress_callback=on_progress))
        except McpError as error:
            raise Refused(str(error)) from error

    async def list_resources(self):
        return [as_wire(resource) for resource in (await self.session.list_resources()).resources]

    async def read_resource(self, uri):
        try:
            return as_wire((await self.session.read_resource(AnyUrl(uri))).contents[0])
        except McpError as error:
            raise Refused(str(error)) from error

    async def list_prompts(self):
        return [as_wire(prompt) for prompt in (await self.session.list_prompts()).prompts]

    async def get_prompt(self, name, arguments):
        try:
            return as_wire(await self.session.get_prompt(name, arguments))
        except McpError as error:
            raise Refused(str(error)) from error

    async def complete(self, template, argument, value):
        reference = ResourceTemplateReference(type="ref/resource", uri=template)
        answer = await self.session.complete(reference, {"name": argument, "value": value})
        return answer.completion.values


@asynccontextmanager
async def connect(server, flags, _mode, log):
    desk = SessionDesk()
    parameters = StdioServerParameters(command=server, args=flags, cwd=PROJECT)
    async with stdio_client(parameters, errlog=log) as (read, write):
        async with ClientSession(read, write, message_handler=desk.on_message) as session:
            greeting = await session.initialize()
            desk.session = session
            desk.protocol_version = greeting.protocolVersion
            desk.server_name = greeting.serverInfo.name
            desk.instructions = greeting.instructions
            yield desk


if __name__ == "__main__":
    sys.exit(anyio.run(run_all, "python mcp 1", ["initialize"], connect))
