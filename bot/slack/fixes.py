"""What to do about Slack's refusals, in words for whoever runs the bot.

Owns the sentences that logs and the doctor share. Pure.
"""

from __future__ import annotations

from bot.slack.calls import Refused

_FIXES = {
    "not_in_channel": "the bot is not in the channel: type `/invite @oncall` there",
    "channel_not_found": (
        "the channel does not exist or the bot is not in it: type `/invite @oncall` there"
    ),
    "is_archived": "the channel is archived: unarchive it or ask elsewhere",
    "invalid_auth": "the token is wrong: copy it again from the app's pages",
    "not_authed": "no token was sent: set [slack] bot_token",
    "token_revoked": "the token was revoked: reinstall the app and copy the new one",
    "token_expired": "the token has expired: reinstall the app and copy the new one",
    "account_inactive": "the app was uninstalled: install it again",
    "not_allowed_token_type": "it is the other kind of token: xoxb- is the bot's, xapp- the app's",
}


def fix_for(refused: Refused) -> str:
    """A sentence that names what to change."""
    if refused.error == "missing_scope":
        return (
            f"missing_scope: add the scope {refused.needed or 'that Slack names'} under "
            '"OAuth & Permissions", then reinstall the app'
        )
    return f"{refused.error}: {_FIXES.get(refused.error, 'see the method in the Slack API docs')}"
