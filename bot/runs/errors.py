"""What can go wrong with the store, in words for a person.

Owns the exceptions that leave ``bot.runs`` for its users, and the translation of database errors
to them. Knows no statement.
"""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be used now. The message says what to do."""


class NoRunError(Exception):
    """The run that was named is not there, or not in that state. The message says what to do."""


class NoWorkbenchError(Exception):
    """The tools cannot be opened. The message is for people and says what to do."""


def in_words(error: BaseException, where: str) -> str:
    """A database error as a sentence that says what to do. ``where`` names the database."""
    said = str(getattr(error, "orig", None) or error)
    code = getattr(error, "sqlite_errorname", None) or getattr(
        getattr(error, "orig", None), "sqlite_errorname", ""
    )
    text = f"{code} {said}".lower()
    if "notadb" in text or "not a database" in text:
        return f"{where} is not a database of this bot: move it away or set another store.url."
    if "corrupt" in text or "malformed" in text:
        return f"{where} is damaged: restore a copy, or move it away to start afresh."
    if "readonly" in text or "read-only" in text:
        return f"{where} cannot be written: give this user write access to it and its folder."
    if "full" in text:
        return f"The disk of {where} is full: free some space and try again."
    if "ioerr" in text or "i/o error" in text:
        return (
            f"The disk of {where} does not take or give what it should: look whether it is full "
            "or broken, then try again."
        )
    if "locked" in text or "busy" in text:
        return f"{where} is locked by another process: wait until that is done and try again."
    if "cantopen" in text or "unable to open" in text:
        return f"{where} cannot be opened: check that its folder exists and can be written."
    return f"{where} does not work: {said}"
