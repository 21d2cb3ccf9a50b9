"""Trace links and the ask link: unguessable, signed, and void once the key is rotated (M18, M22).

Owns the signing key's file and the form of a link. Knows neither runs nor the web.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from itsdangerous import BadSignature, URLSafeSerializer

from bot.runs.errors import StoreError

_SALT = "trace-link"
_ASK_SALT = "ask-link"
_ASK = "ask"
_MIN_KEY = 32


class Links:
    """Makes and reads trace links under one key. ``public_url`` is how people reach the pages."""

    def __init__(self, key: str, public_url: str) -> None:
        self._serializer = URLSafeSerializer(key, salt=_SALT)
        self._ask = URLSafeSerializer(key, salt=_ASK_SALT)
        self.public_url = public_url.rstrip("/")

    def trace(self, run: str) -> str:
        return f"{self.public_url}/t/{self._serializer.dumps(run)}"

    def run_of(self, token: str) -> str | None:
        """The run that a link's token leads to, or ``None`` for a wrong or a rotated one."""
        try:
            run = self._serializer.loads(token)
        except BadSignature:
            return None
        return run if isinstance(run, str) else None

    def ask(self) -> str:
        """The link of the page to ask on, for those who may."""
        return f"{self.public_url}/ask/{self._ask.dumps(_ASK)}"

    def may_ask(self, token: str) -> bool:
        try:
            return bool(self._ask.loads(token) == _ASK)
        except BadSignature:
            return False


def signing_key(file: Path) -> str:
    """The workspace's key, made at first use. Raises ``StoreError``."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            _write_new(file)
        key = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(
            f"The signing key {file} cannot be used ({_why(error)}): "
            "check the folder's permissions, or remove the file to make a new key."
        ) from error
    if len(key) < _MIN_KEY:
        raise StoreError(
            f"The signing key in {file} is too short: remove the file to make a new one "
            "(links made so far stop working)."
        )
    return key


def _why(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else "it is no text"


def rotate_key(file: Path) -> None:
    """Replace the key: every link made so far stops working."""
    file.unlink(missing_ok=True)
    signing_key(file)


def _write_new(file: Path) -> None:
    """Whole or not at all, and the first process wins."""
    fresh = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(secrets.token_urlsafe(48) + "\n")
    try:
        os.link(fresh, file)
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
