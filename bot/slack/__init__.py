"""Slack as a surface: questions in, one reply out, a stop that stops. Start with ``app.py``."""
