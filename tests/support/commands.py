"""The command line, run many times: each command is a process of its own with its own arguments,
environment, folder, output and exit code.

To load the bot takes most of a short command's time. So only the first run of each command starts
from nothing, and finds out what the command forgets to load; the others are forked from a process
that has loaded everything. A command that is given signals is started by its test.
"""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GIVE_UP = 60.0
MOST_BYTES = 64 * 1024
"""Of a request: what is longer starts from nothing."""
OURS = ("ONCALL_", "SLACK_")
"""Only these are read by a command as it runs; other variables may change how it is loaded."""
RUN_BY_OTHERS = re.compile(r"__main__$|\.migrations\.env$")
"""Modules that are programs: they are not to be loaded."""

_seen: set[str] = set()


def run(
    *argv: str, env: Mapping[str, str], cwd: str | Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """``python -m bot`` with these arguments, to its end."""
    command, wanted = argv[0] if argv else "", _request(argv, env, cwd)
    if command not in _seen or len(wanted) > MOST_BYTES or _how_loaded(env) != _how_loaded(None):
        _seen.add(command)
        return subprocess.run(
            [sys.executable, "-m", "bot", *argv],
            capture_output=True,
            text=True,
            check=False,
            cwd=cwd,
            env=env,
            timeout=GIVE_UP,
        )
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        way, _ = _loaded()
        socket.send_fds(way, [wanted], [out.fileno(), err.fileno()])
        code = int(way.recv(16))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(argv, code, out.read(), err.read())


def with_periods(module: str, **seconds: float) -> tuple[str, str]:
    """What to give to Python for a bot in which these periods of a module are others."""
    lines = [f"import {module} as it", *(f"it.{name} = {value}" for name, value in seconds.items())]
    lines.append("import runpy; runpy.run_module('bot', run_name='__main__', alter_sys=True)")
    return "-c", "\n".join(lines)


def _request(argv: tuple[str, ...], env: Mapping[str, str], cwd: str | Path) -> bytes:
    return json.dumps([argv, dict(env), str(cwd)]).encode()


def _how_loaded(env: Mapping[str, str] | None) -> dict[str, str]:
    given = os.environ if env is None else env
    return {n: v for n, v in given.items() if not n.startswith((*OURS, "PYTHONPATH", "PYTEST_"))}


def end() -> None:
    """End the process that has loaded everything: for the end of a module that ran commands."""
    if _loaded.cache_info().currsize:
        way, process = _loaded()
        way.close()
        os.killpg(process.pid, signal.SIGKILL)  # a command that hangs ends with it
        process.wait()
        _loaded.cache_clear()


@functools.cache
def _loaded() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The process that has loaded everything, and the way to it; started by the first who asks."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    process = subprocess.Popen(
        [sys.executable, "-m", "support.commands", str(its.fileno())],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))},
        pass_fds=(its.fileno(),),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    its.close()
    ours.settimeout(GIVE_UP)
    return ours, process


# --- the process that has loaded everything ------------------------------------------------------


def _load() -> None:
    import bot  # noqa: PLC0415 - only this process loads all of it
    import tools  # noqa: PLC0415

    for package in (bot, tools):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not RUN_BY_OTHERS.search(module.name):
                importlib.import_module(module.name)


def _next_command(way: socket.socket) -> Any:
    """Comes back in each new process with what to run, and here once no more is wanted."""
    while True:
        request, streams, _, _ = socket.recv_fds(way, MOST_BYTES, 2)
        if not request:
            return None
        if (child := os.fork()) == 0:
            way.close()
            for number, stream in enumerate(streams, start=1):
                os.dup2(stream, number)
                os.close(stream)
            return json.loads(request)
        for stream in streams:
            os.close(stream)
        way.send(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def _main() -> None:
    way = socket.socket(fileno=int(sys.argv[1]))
    way.set_inheritable(False)
    _load()
    gc.freeze()
    if command := _next_command(way):
        argv, env, cwd = command
        os.environ.clear()
        os.environ.update(env)
        os.chdir(cwd)
        sys.argv = ["bot", *argv]
        runpy.run_module("bot", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
