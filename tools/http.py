"""The one place that imports httpx: a shared keep-alive client, bounded replies, typed errors.

Owns connections and how they end: cancelling a call closes its connection. Retries nothing and knows
neither models nor sources. Messages never hold a header, a body or a URL's query.

    HttpError
    ├── HttpTimeoutError    no connection, or no progress, in time
    ├── HttpNetworkError    refused, reset, cut off, or not HTTP
    └── HttpTooLargeError   more bytes than the caller allows
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import httpx

CONNECT_SECONDS = 5.0
"""For name, connection and TLS handshake. A reply's own time is the caller's to bound."""
IDLE_SECONDS = 60.0
"""How long an unused connection is kept: longer than the tools of one step take."""


class HttpError(Exception):
    """No whole reply. The message names the host and what happened, for people."""


class HttpTimeoutError(HttpError):
    pass


class HttpNetworkError(HttpError):
    pass


class HttpTooLargeError(HttpError):
    pass


@dataclass(frozen=True)
class HttpReply:
    """Any status. ``headers`` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Opens its connections on first use and keeps them. Close it with ``close``."""

    def __init__(self, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._timeout = httpx.Timeout(None, connect=connect_seconds)
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> HttpReply:
        """POST, without following redirects. Raises ``HttpError``."""
        host = httpx.URL(url).host
        try:
            async with self._opened().stream(
                "POST", url, headers=dict(headers), content=body
            ) as reply:
                read = await _read(reply, host, max_bytes)
        except httpx.TimeoutException as error:
            raise HttpTimeoutError(f"{host} could not be reached in time") from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
            raise HttpNetworkError(f"{host} could not be reached") from error
        except httpx.DecodingError as error:
            raise HttpNetworkError(f"{host} sent a reply that cannot be unpacked") from error
        except (httpx.TransportError, OSError) as error:
            raise HttpNetworkError(f"{host} closed the connection before the end") from error
        return HttpReply(reply.status_code, {k.lower(): v for k, v in reply.headers.items()}, read)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _opened(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                timeout=self._timeout,
                limits=httpx.Limits(keepalive_expiry=IDLE_SECONDS),
                headers={"accept-encoding": "identity"},
            )
        return self._client


async def _read(reply: httpx.Response, host: str, max_bytes: int) -> bytes:
    read = bytearray()
    async for chunk in reply.aiter_bytes():
        read += chunk
        if len(read) > max_bytes:
            raise HttpTooLargeError(f"{host} sent more than {max_bytes:,} bytes")
    return bytes(read)
