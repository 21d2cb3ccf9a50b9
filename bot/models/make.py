"""From settings to the model of one run.

Owns which adapter serves which settings. The adapters are imported only when one is made: the rules
model needs no HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bot.loop.stopping import Clock
from bot.loop.wire import Model
from bot.models.fallback import Breaker, FallbackModel
from bot.models.prices import budget_spent
from bot.models.rules import RulesModel
from bot.models.settings import EndpointSettings, ModelSettings

if TYPE_CHECKING:
    from tools.http import HttpClient


def make_model(
    settings: ModelSettings,
    client: HttpClient | None,
    breaker: Breaker,
    clock: Clock,
    *,
    spent_today: float = 0.0,
) -> Model:
    """A model for one run; the client and the breaker are the process's.

    Without a client, without a configured model, or with the day's money spent, it is the rules
    model.
    """
    if client is None or budget_spent(settings.daily_budget, spent_today):
        return RulesModel()
    asked = [adapter(endpoint, client, clock) for endpoint in settings.endpoints]
    return FallbackModel([*asked, RulesModel()], breaker) if asked else RulesModel()


def adapter(settings: EndpointSettings, client: HttpClient, clock: Clock) -> Model:
    """One model without anything behind it."""
    match settings.kind:
        case "openai":
            return _chat(settings, client, clock)
        case "anthropic":
            return _messages(settings, client, clock)


def _chat(settings: EndpointSettings, client: HttpClient, clock: Clock) -> Model:
    from bot.models.openai import ChatModel, ChatOptions, ToolDialect  # noqa: PLC0415
    from bot.models.replies import Endpoint  # noqa: PLC0415
    from bot.models.text_mode import TextDialect  # noqa: PLC0415

    key = settings.key
    headers = {"authorization": f"Bearer {key}"} if key else {}
    headers, secrets = _headers(settings, key, headers)
    options = ChatOptions(
        model=settings.model,
        mode=settings.mode,
        limit_field=_limit_field(settings),
        max_output_tokens=settings.max_output_tokens,
        extra=settings.extra_body,
    )
    match settings.mode:
        case "tools":
            dialect: ToolDialect | TextDialect = ToolDialect()
        case "text":
            dialect = TextDialect()
    endpoint = Endpoint(settings.shown, f"{settings.url}/chat/completions", headers, secrets)
    return ChatModel(endpoint, options, dialect, client, clock)


def _limit_field(settings: EndpointSettings) -> str:
    """OpenAI's newer models refuse the field that every other server knows."""
    host = urlsplit(settings.url).hostname or ""
    wanted = [f for f in ("max_tokens", "max_completion_tokens") if f in settings.extra_body]
    newer = host == "api.openai.com" or host.endswith((".openai.azure.com", ".azure.com"))
    return wanted[0] if wanted else "max_completion_tokens" if newer else "max_tokens"


def _messages(settings: EndpointSettings, client: HttpClient, clock: Clock) -> Model:
    from bot.models.anthropic import VERSION, MessagesModel, MessagesOptions  # noqa: PLC0415
    from bot.models.replies import Endpoint  # noqa: PLC0415

    key = settings.key
    headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
    headers, secrets = _headers(settings, key, headers)
    options = MessagesOptions(
        model=settings.model,
        max_output_tokens=settings.max_output_tokens,
        extra=settings.extra_body,
        caching=settings.caching,
    )
    url = f"{settings.url.removesuffix('/v1')}/v1/messages"
    return MessagesModel(Endpoint(settings.shown, url, headers, secrets), options, client, clock)


def _headers(
    settings: EndpointSettings, key: str, usual: dict[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The headers, the configured ones over the usual ones, and the secrets among them."""
    configured = {k.lower(): v.get_secret_value() for k, v in settings.headers.items()}
    secrets = (key, *configured.values())
    return {"content-type": "application/json"} | usual | configured, tuple(filter(None, secrets))
