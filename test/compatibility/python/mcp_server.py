"""A server of MCP's Python software: over standard input and output, or over HTTP at a port."""

import sys

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("tools of a test")


@server.tool()
def add_numbers(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def founder_of(company: str) -> str:
    """Returns who founded a company."""
    if company != "Lumen Works":
        raise ToolError(f"There is no company called {company}.")
    return "Ada Brand"


if len(sys.argv) > 1:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
else:
    server.run("stdio")
