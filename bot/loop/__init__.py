"""The heart: a bounded think–act–observe loop that knows no Slack, HTTP, SQL or concrete tool.

``engine.py`` is the loop itself; read it first.
"""
