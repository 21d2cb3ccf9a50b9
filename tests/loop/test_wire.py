"""What passes between the loop and a model."""

from __future__ import annotations

from bot.loop.wire import ModelError, ModelErrorKind


def test_a_failed_model_call_says_in_a_log_what_the_provider_said() -> None:
    error = ModelError(ModelErrorKind.RATE_LIMIT, "slow down", retry_after=3.0)
    assert str(error) == "slow down"
