"""Slack's Web API, as far as a bot like ours uses it, with Slack's limits and errors."""
