#!/usr/bin/env python3
"""The clients of clients/ as their users get them: packed, installed into an empty folder, and used against a server.

    packages.py SERVER NODE-FOLDER MYPY

SERVER is the built binary, NODE-FOLDER has typescript in its node_modules, MYPY is the program of that name.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from running import PROJECT, running

HERE = pathlib.Path(__file__).resolve().parent
TOKEN = "a-token-for-the-clients"


def run(*words, **options):
    subprocess.run([str(word) for word in words], check=True, **options)


def install_typescript(folder, node_folder):
    """Packs the client, installs it into an empty project, and compiles the program that uses it."""
    use = folder / "typescript"
    use.mkdir()
    run("npm", "pack", "--silent", "--pack-destination", folder, cwd=PROJECT / "clients/typescript", stdout=subprocess.DEVNULL)
    (package,) = folder.glob("*.tgz")
    (use / "package.json").write_text(json.dumps({"name": "empty", "private": True, "type": "module"}))
    run("npm", "install", "--prefix", use, "--no-audit", "--no-fund", "--offline", "--loglevel=error", package, stdout=subprocess.DEVNULL)
    shutil.copy(HERE / "use_client.ts", use)
    options = {"strict": True, "target": "es2022", "module": "nodenext", "lib": ["es2023", "dom"], "types": []}
    (use / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["use_client.ts"]}))
    run(pathlib.Path(node_folder) / "node_modules/.bin/tsc", "--project", use)
    return use / "use_client.js"


def install_python(folder, mypy):
    """Builds the wheel, installs it into an empty environment, and checks the types of the program that uses it."""
    source, environment = folder / "source", folder / "venv"
    shutil.copytree(PROJECT / "clients/python", source)
    quiet = ["--quiet", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "wheel", *quiet, "--no-deps", "--wheel-dir", folder, source)
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", environment)
    run(environment / "bin/python", "-m", "pip", "install", *quiet, "--no-index", wheel)
    run(mypy, "--strict", "--no-error-summary", "--cache-dir", folder / "mypy", "--python-executable",
        environment / "bin/python", HERE / "use_client.py")
    return environment / "bin/python"


def main(server, node_folder, mypy):
    version = subprocess.run([server, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory(prefix="oso-packages-") as temporary:
        folder = pathlib.Path(temporary)
        program = install_typescript(folder, node_folder)
        python = install_python(folder, mypy)
        failed = 0
        for number, words in enumerate([["node", program], [python, HERE / "use_client.py"]]):
            config = {"jobs": {"enabled": True, "dir": f"{folder}/jobs{number}"}, "web_ui": {"token": TOKEN}}
            with running(server, config=config) as started:
                # Nothing of this machine but what the programs need: a client that relies on more fails here.
                environment = {"PATH": os.environ["PATH"]}
                words = [*map(str, words), started.address, version, TOKEN]
                failed += subprocess.run(words, env=environment, cwd=folder).returncode
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
