"""No text stops the bot: what a result costs to redact grows with its length and no faster (M8).

While a text is read nobody is heard, so a commit message must not be able to make that long. Each of
these once took time by the square of its length, or for ever.
"""

from __future__ import annotations

import time

import pytest

from bot.redact import Redactor
from tools.base import Status, ToolResult


def _deep(word: str, last: str, depth: int = 150) -> str:
    """Mappings within mappings, then lines that all of them hold."""
    levels = "".join(f"{' ' * level}{word}\n" for level in range(depth))
    return levels + (" " * depth + last + "\n") * depth


def _alike(words: int) -> str:
    """Passphrases that begin alike, and a word that begins like all of them."""
    secrets = " ".join(f"password=aaaaaa{'-bbb' * word}" for word in range(1, words))
    return secrets + " " + "-aaaaaa-bbbc" * 40 * words


# What stands before, and what is repeated.
CRAFTED = {
    "crosses where a password belongs": ("", f"password=test{'x' * 66}@ "),
    "digits": ("", f"password={'1' * 511}! "),
    "names that turn into each other": ("", "password → "),
    "values that turn into each other": ("", 'password: "a" → '),
    "names in one unquoted value": ("", "token=$a::"),
    "names in one address": ("", "password=https://"),
    "names in one word of a shell": ("+++ b/a.sh\n", "password=$a::"),
    "names in one option": ("", "--token $a::"),
    "names in one line of a Dockerfile": ("", "ENV TOKEN $a:: "),
    "names in one comment": ("", "password: |# "),
    "names and values in one line": ("", "name: TOKEN value: $a "),
    "blanks before a comment that is none": ("+++ b/a.env\npassword=a", " "),
    "blanks where a value belongs": ("name: TOKEN\nvalue: ", " "),
    "quotes that are not closed": ("", "secret='''"),
    "blanks in a private key": ("-----BEGIN RSA PRIVATE KEY-----", " "),
    "lines in a private key": ("-----BEGIN RSA PRIVATE KEY-----", "\n "),
    "ends of private keys": ("", "-----END RSA PRIVATE KEY-----"),
    "beginnings of PuTTY keys": ("", "PuTTY-User-Key-File-2:!" * 10 + "\n"),
    "blanks in a Kubernetes secret": ("kind: Secret\ndata:", " "),
    "blanks behind its value": ("kind: Secret\ndata:\n  a: b", " "),
    "variables": ("", 'variable x_token { default = "'),
    "variables over lines": ("", "variable x_token {\n default = <<E\n"),
    "markers of a model's key": ("T3BlbkFJ ", "sk-"),
    "names of several within each other": ("", "tokens: ["),
    "names of several over lines": ("", "tokens:\n"),
    "items beside their name": ("tokens:\n", "- x\n"),
    "values before their names": ("", "value: abcdef\nname: TOKEN\n"),
    "keys in words": ("", "API key "),
    "words behind a name": ("", f"token {'a1' * 250}!"),
    "flags of a command": ("", "curl -a -b "),
    "keys in base64": ("", f"LS0tLS1CRUdJTi{'A' * 66}\n"),
    "users of a database": ("@tcp( ", "a:"),
    "joints of a name": ("", f"{'-' * 90}xkey AbCd1234EfGh5678IjKl9012MnOp3456QrSt7890UvWx "),
}


def _seconds(text: str) -> float:
    result = ToolResult(status=Status.OK, summary="", text=text)
    since = time.process_time()
    Redactor().result(result)
    return time.process_time() - since


def _grows_no_faster(short: str, long: str) -> bool:
    """Of four times the length it may take nine times as long: the square of it would be sixteen."""
    least = min(_seconds(short) for _ in range(3)) * len(long) / len(short)
    return any(_seconds(long) <= max(2.25 * least, 0.01) for _ in range(4))


@pytest.mark.alone
@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_text_takes_no_longer_than_its_length_says(kind: str) -> None:
    before, repeated = CRAFTED[kind]
    short, long = (before + repeated * (size // len(repeated)) + "x" for size in (6_000, 24_000))

    assert _grows_no_faster(short, long)


@pytest.mark.alone
@pytest.mark.parametrize("word", ["kind: Secret\ndata:", "password: |"])
def test_mappings_within_mappings_take_no_longer_than_their_length_says(word: str) -> None:
    first, _, inner = word.rpartition("\n")

    assert _grows_no_faster(*(f"{first}\n{_deep(inner, 'the a.', depth)}" for depth in (100, 200)))


@pytest.mark.alone
def test_passphrases_that_begin_alike_take_no_longer_than_their_length_says() -> None:
    assert _grows_no_faster(_alike(50), _alike(200))
