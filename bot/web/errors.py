"""What can go wrong with a bot that runs elsewhere, in words for a person. Loads nothing."""

from __future__ import annotations


class ServerError(Exception):
    """The bot there cannot be asked. The message says what to change."""
