"""The one place that imports httpx: a shared keep-alive client, bounded replies, typed errors.

Owns connections and how they end: cancelling a call closes its connection. Retries nothing and knows
neither models nor sources. Messages never hold a header, a body or a URL's query.

    HttpError
    ├── HttpTimeoutError    no connection, or no progress, in time
    ├── HttpNetworkError    refused, reset, cut off, or not HTTP
    └── HttpTooLargeError   more bytes than the caller allows

httpx's requests, replies and errors; the bytes go through aiohttp, whose parser is in C: httpx's own
transport, in Python, takes six times as long for a call.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Self
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx

CONNECT_SECONDS = 5.0
"""For name, connection and TLS handshake. A reply's own time is the caller's to bound."""
IDLE_SECONDS = 60.0
"""How long an unused connection is kept: longer than the tools of one step take."""
MAX_HEADER_BYTES = 65_536
"""Of one header of a reply. Some gateways send long ones."""

_USUAL = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "oncall-bot"}


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
    """Any status. ``headers`` are found by any spelling of their names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class HttpClient:
    """Opens its connections on first use and keeps them. Close it with ``close``."""

    def __init__(self, *, connect_seconds: float = CONNECT_SECONDS) -> None:
        self._connect_seconds = connect_seconds
        self._transport: _AiohttpTransport | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def post(
        self, url: str, headers: Mapping[str, str], body: bytes, *, max_bytes: int
    ) -> HttpReply:
        """POST, without following redirects. Raises ``HttpError``."""
        sent = httpx.ByteStream(body)
        request = httpx.Request("POST", _parsed(url), headers=_USUAL | dict(headers), stream=sent)
        host = request.url.host
        try:
            reply = await self._opened().handle_async_request(request)
            try:
                read = await _read(reply, host, max_bytes)
            finally:
                await reply.aclose()
        except httpx.TimeoutException as error:
            raise HttpTimeoutError(f"{host} could not be reached in time") from error
        except (httpx.ConnectError, httpx.ProxyError, httpx.UnsupportedProtocol) as error:
            why = f": {error}" if str(error) else ""
            raise HttpNetworkError(f"{host} could not be reached{why}") from error
        except httpx.DecodingError as error:
            raise HttpNetworkError(f"{host} sent a reply that cannot be unpacked") from error
        except (httpx.TransportError, OSError) as error:
            raise HttpNetworkError(f"{host} closed the connection before the end") from error
        return HttpReply(reply.status_code, reply.headers, read)

    async def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    def _opened(self) -> _AiohttpTransport:
        if self._transport is None:
            self._transport = _AiohttpTransport(self._connect_seconds)
        return self._transport


@lru_cache
def _parsed(url: str) -> httpx.URL:
    """Kept: a run posts to one address, and taking it apart is a tenth of the call."""
    return httpx.URL(url)


async def _read(reply: httpx.Response, host: str, max_bytes: int) -> bytes:
    read = bytearray()
    packed = "content-encoding" in reply.headers
    async for chunk in reply.aiter_bytes() if packed else _unpacked(reply):
        read += chunk
        if len(read) > max_bytes:
            raise HttpTooLargeError(f"{host} sent more than {max_bytes:,} bytes")
    return bytes(read)


def _unpacked(reply: httpx.Response) -> AsyncIterator[bytes]:
    """The bytes as they come; httpx would lead them through two more generators."""
    return reply.stream.__aiter__() if isinstance(reply.stream, _Body) else reply.aiter_raw()


class _AiohttpTransport(httpx.AsyncBaseTransport):
    """Sends httpx's requests through aiohttp. Raises ``httpx.TransportError``."""

    def __init__(self, connect_seconds: float) -> None:
        trusted = _trusted()
        trusted.set_alpn_protocols(["http/1.1"])
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusted, limit=0, keepalive_timeout=IDLE_SECONDS),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._proxies: dict[tuple[str, bytes], str | None] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            reply = await self._session.request(
                request.method,
                str(request.url),
                headers=[(k.decode("ascii"), v.decode("latin-1")) for k, v in request.headers.raw],
                data=await request.aread(),
                proxy=self._proxy(request.url),
                allow_redirects=False,
            )
        except _RAISED as error:
            raise _in_httpx(error) from error
        return httpx.Response(reply.status, headers=reply.raw_headers, stream=_Body(reply))

    async def aclose(self) -> None:
        await self._session.close()

    def _proxy(self, url: httpx.URL) -> str | None:
        """The proxy that the environment names for this host; it is asked once a host."""
        host = (url.scheme, url.netloc)
        if host not in self._proxies:
            self._proxies[host] = _proxy_from_environment(url)
        return self._proxies[host]


class _Body(httpx.AsyncByteStream):
    """A reply's bytes as they come. Closing it before their end closes the connection."""

    def __init__(self, reply: aiohttp.ClientResponse) -> None:
        self._reply = reply

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._reply.content.iter_any():
                yield chunk
        except _RAISED as error:
            raise _in_httpx(error) from error

    async def aclose(self) -> None:
        self._reply.close()


def _trusted() -> ssl.SSLContext:
    """What SSL_CERT_FILE and SSL_CERT_DIR name, else certifi's authorities."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise httpx.ConnectError(
            "the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read"
        ) from error


def _proxy_from_environment(url: httpx.URL) -> str | None:
    """From HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, but for the hosts of NO_PROXY."""
    known = getproxies()
    proxy = known.get(url.scheme) or known.get("all")
    if not proxy or proxy_bypass(url.netloc.decode("ascii")):
        return None
    if "://" not in proxy:
        return f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise httpx.UnsupportedProtocol("the environment names a proxy that is not an HTTP proxy")
    return proxy


_RAISED = (aiohttp.ClientError, OSError, ValueError)
"""What aiohttp raises; a timeout is an ``OSError``, a header of two lines a ``ValueError``."""


def _in_httpx(error: Exception) -> httpx.TransportError:
    """The error of aiohttp as the one that httpx has for it.

    Why no connection was made is in our words or empty: it is shown, and aiohttp's hold addresses.
    """
    match error:
        case TimeoutError():
            return httpx.ConnectTimeout(str(error))
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return httpx.UnsupportedProtocol("")
        case aiohttp.ClientHttpProxyError(status=status):
            return httpx.ProxyError(f"the proxy refused with HTTP {status}")
        case aiohttp.ClientProxyConnectionError():
            return httpx.ProxyError("its proxy does not answer")
        case aiohttp.ClientConnectorCertificateError(certificate_error=refused):
            why = getattr(refused, "verify_message", "") or "it is not valid"
            return httpx.ConnectError(
                f"its certificate is not trusted ({why}); SSL_CERT_FILE names further authorities"
            )
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError("")
        case aiohttp.ClientResponseError() | aiohttp.ServerDisconnectedError():
            return httpx.RemoteProtocolError(str(error))
        case aiohttp.ClientError() | OSError():
            return httpx.ReadError(str(error))
        case _:
            return httpx.LocalProtocolError(str(error))
