"""``python -m bot``: the same as ``oncall-bot``."""

from bot.cli import main

main()
