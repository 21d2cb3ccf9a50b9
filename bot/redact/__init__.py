"""Secrets out, everything else untouched (M19).

Owns what counts as a secret and how it is masked. Knows no tool, model, file or network: text goes
in, text comes out. Masks replace values and never names, are the same for the same secret within a
run, and are put in before anything is stored, hashed, cut into pages or sent.
"""

from bot.redact.redactor import Redactor

__all__ = ["Redactor"]
