"""What the bot can look at: deploys, diffs, incidents and where they come from.

Nothing in this package imports ``bot``: a tool is usable, and testable, without the loop.
"""
