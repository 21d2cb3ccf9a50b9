"""The on-call bot. Start reading at ``bot/loop/engine.py``."""
