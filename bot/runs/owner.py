"""Who works on a run, and whether that process still lives.

An owner is a name and a locked file: the kernel drops the lock when the process ends, however it
ends, so a reused process id or a restart of the machine misleads nobody. Knows no run and no SQL.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

_LEFT_BEHIND_SECONDS = 86_400.0
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")


class Owner:
    """The process itself, as an owner of runs. Its lock is held until ``close``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        host = _UNSAFE.sub("-", socket.gethostname())[:60]
        self.name = f"{host}_{os.getpid()}_{secrets.token_hex(4)}"
        self._folder = folder
        self._path = self._file(self.name)
        self._lock: IO[str] = self._path.open("w", encoding="utf-8")
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._sweep()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        self._lock.close()

    def lives(self, name: str | None) -> bool:
        """Whether the process of that name still holds its lock. Nobody (``None``) does not."""
        if name is None:
            return False
        if name == self.name:
            return True
        try:
            with self._file(name).open(encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _sweep(self) -> None:
        """Remove what processes that were killed left behind.

        Only old files: a young one may belong to a process that is about to lock it.
        """
        for file in self._folder.glob("*.lock"):
            with contextlib.suppress(OSError), file.open(encoding="utf-8") as lock:
                if time.time() - file.stat().st_mtime > _LEFT_BEHIND_SECONDS:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    file.unlink()

    def _file(self, name: str) -> Path:
        return self._folder / f"{_UNSAFE.sub('-', name.replace('_', '.'))}.lock"
