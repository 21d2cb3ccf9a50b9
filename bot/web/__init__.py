"""The web pages: a run's trace, health, and what this is. Start with ``app.py``."""
