"""What can be told of a value without its name: a literal, a reference to a secret, or words.

Knows no syntax around the value. Judgements look at the first few hundred characters only.
"""

from __future__ import annotations

import re

from bot.redact.gate import Gate

# A mask; at the end of a text it may be cut off.
_MASK = re.compile(r"\[redacted: (?:[a-z0-9.][a-z0-9. ]{0,40}(?: #\d{1,9})?\]|[a-z0-9.# ]{0,50}\Z)")
_UNICODE = Gate([""])
_HALF = re.compile("[\ud800-\udfff]")
# What stands for a mask while a text is searched: no rule takes it for a name, a word or a literal.
MASKED = "\ue000"

_JUDGED = 512

# Stand-ins that people write where a secret belongs.
_PLACEHOLDER = re.compile(
    r"""(?:
        |[x*.•_?#-]{2,}|x+|abc|foo|bar|baz|qux|123|1234|12345|123456|xyz
        |<[^<>]*>|\[[^\[\]]*\]|\(.*\)|\{[^{}]*\}|__\w+__|@\w+@
        |(?:your|my|the|some|any|an|a|insert|enter|replace|put|use|set|add|new|old|fake|dummy|mock
           |sample|example|placeholder|invalid|wrong|bad|not|no|change|todo|fixme|tbd|redacted
           |masked|hidden|removed|secret|s3cr3t|test|testing|dev)
           (?:[-_ .]?(?:it|me|your|my|the|here|real|with|this|own|a|an|in|super|very|secure|secrets?
           |password|passwd|pass|pwd|token|key|api|access|auth|client|private|value|user|username
           |db|database|admin|app|default|example|sample|test|dummy|fake|id|placeholder|later
           |prod|production|please|set|string|credentials?|invalid|wrong|x++)){0,6}
        |(?:user|username|pass|passwd|passphrase|password|passcode|pwd|pw|secrets?|tokens?|keys?
           |api|auth|bearer|basic|credentials?|client|access|private|admin|root|db|database|login
           |jwt|refresh|csrf|id|value|name|field|input|hash|type|session|cookie|code|hint|text|label)
           (?:[-_ .]?(?:user|username|pass|passwd|password|pwd|pw|secret|token|key|api|auth|client
           |access|private|id|value|name|field|input|here|hash|type|1|2|header|required|cookie|url
           |uri|file|path|code)){0,4}
        |none|null|nil|undefined|void|true|false|yes|no|on|off|auto|default|required|optional|unset
        |empty|missing|string|str|text|bytes|int|integer|number|float|bool|boolean|object|any|array
        |list|dict|map|unknown|never|byte|char|uuid|date|hidden|readonly|omitted|disabled|enabled
        |inherit|public|local|env|vault|oauth2?|digest|ldap|saml|oidc|iam|kerberos|ntlm|plain|openid
        |anonymous|n/?a
    )[.!?:,;]?""",
    re.IGNORECASE | re.VERBOSE,
)

# What stands for a secret that is kept elsewhere.
_REFERENCE = re.compile(
    r"""
        \$(?:[A-Z_][A-Z0-9_]*|[a-z_]+|[a-z]+(?:[A-Z][a-z]+)+)$ | \$\w+(?:->|::) | \$[({\[] | \$env:
        | @[a-z_]+$ | %\w+%$ | %[({]\w* | %[-\d.]*[sdrvq]$ | \{\{ | \{% | <% | \#\{ | \\\(
        | !(?:Ref|Sub|GetAtt|vault|secret|env|ImportValue|Join|reference)\b | ENC\[ | AQICA
        | @Microsoft\.KeyVault | (?:process|import\.meta|Deno|Bun)\.env\b | os\.(?:environ|getenv)\b
        | System\.(?:getenv|getProperty)\b
        | (?:secrets?|vars?|vault|env|ENV|local|data|module|self|this|config|settings|cfg|conf|args
            |opts|options|params|props|state|ctx|context|request|req|response|res|event|inputs?
            |steps|needs|github)(?:\.|\[|->|\?\.)[\w.\[\]"'-]+$
        | (?:vault|secret|secretref|ssm|env|file|op|keyring|keychain|awssm|gcpsm|azkv|sm|asm|ref
            |doppler|bws|infisical|akv|conjur)[:+]
        | secretKeyRef | valueFrom | arn:aws[\w-]*: | projects/[^/]+/secrets/ | https?://[^\s@]*$
        | data:[a-z]+/ | sha(?:1|224|256|384|512)[:-] | md5:
    """,
    re.VERBOSE,
)
_HOLDS_REFERENCE = re.compile(
    r"\$\{|\$\(|\{\{|<%|#\{|%\(\w+\)s|\{[A-Za-z_][\w.\[\]'\"]*(?:![rsa])?\}"
)
_PATH = re.compile(
    r"(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\]{1,2}[\w.@%+ -]{1,40})+[/\\]?"
    r"|[\w-]{1,40}(?:/[\w.-]{1,40})*\.(?:json|pem|key|crt|cer|txt|ya?ml|env|conf|cfg|ini|toml|py|js"
    r"|ts|go|rb|sh|p12|pfx|jks|xml|html|properties)"
)
_NUMBER = re.compile(
    r"[-+]?(?:[\d_,]*+\.\d++|[\d_,]*+(?<=\d))(?:e[-+]?\d++)?\s?[%a-zA-Z]{0,7}", re.IGNORECASE
)
# A name of several words that ends like a name of a secret: "challengePassword", "db-password".
_NAMELIKE = re.compile(
    r"[A-Za-z_.-]+?(?:[-_.](?i:password|passwd|passphrase|secret|token|credential|key|pwd)"
    r"|(?<=[a-z])(?:Password|Passwd|Passphrase|Secret|Token|Credential|Key|Pwd))s?"
)
_JOINT = re.compile(r"[-_./:@+=~, ]+")
_WORD = re.compile(r"(?:[A-Za-z]+\d{0,3}|v?\d{1,4})")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PROSE_WORD = re.compile(
    r"(?:^|\s)(?:the|a|an|is|are|was|be|to|of|for|in|on|and|or|not|no|with|from|your|you|this|that"
    r"|must|should|if|it|can|will|has|have|by|at|as|when|please|invalid|enter|use|used|does|do|than"
    r"|too|via|per|only|new|set)(?=[\s.,;:!?]|$)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[A-Z][a-z]*\s[A-Za-z\s]+")


def searchable(text: str) -> str:
    """Return ``text`` at the same length, with its masks and halves of surrogate pairs painted over."""
    if "[redacted: " in text:
        text = _MASK.sub(lambda found: MASKED * len(found[0]), text)
    return text if text.isascii() or _UNICODE.opens(text) else _HALF.sub("\ufffd", text)


def is_reference(value: str) -> bool:
    """Tell whether ``value`` names a secret that is kept elsewhere."""
    head = value[:_JUDGED]
    return bool(_REFERENCE.match(head) or _HOLDS_REFERENCE.search(head))


def is_number(value: str) -> bool:
    """Tell a count, a size or a duration."""
    return bool(_NUMBER.fullmatch(value[:_JUDGED].strip()))


def is_placeholder(value: str) -> bool:
    """Tell whether ``value`` only holds the place of a secret."""
    return len(value) <= 80 and bool(_PLACEHOLDER.fullmatch(value) or _NAMELIKE.fullmatch(value))


def is_prose(value: str) -> bool:
    """Tell a label or a sentence from a passphrase."""
    head = value[:_JUDGED].strip()
    if " " not in head:
        return False
    sentence = head[-1] in ".!?…:" or _LABEL.fullmatch(head)
    return bool(sentence or _PROSE_WORD.search(head))


def is_path(value: str) -> bool:
    """Tell a path from a secret that holds slashes: its parts look like words."""
    return bool(_PATH.fullmatch(value[:_JUDGED])) and not any(
        len(part) >= 8 and _is_random(part) and (len(part) >= 20 or _is_mixed(part))
        for part in re.split(r"[/\\]", value)
    )


def is_literal(value: str) -> bool:
    """Tell whether a password may be spelled ``value``: no reference, placeholder, path or prose."""
    value = value.strip()
    return not (
        len(value) < 3
        or MASKED in value
        or is_placeholder(value)
        or is_reference(value)
        or is_path(value)
        or is_prose(value)
    )


def is_opaque(value: str) -> bool:
    """Tell whether ``value`` looks issued by a machine, as tokens and keys are."""
    value = value.strip()
    if len(value) < 6 or " " in value or is_number(value) or not is_literal(value):
        return False
    return len(value) > _JUDGED or _is_random(value)


def is_coined(value: str) -> bool:
    """Tell a made-up word with a number, such as ``hunter2``, from names of several parts."""
    value = value.strip()
    if len(value) < 6 or not value.isalnum() or value.isalpha() or is_number(value):
        return False
    return is_literal(value)


def is_issued(value: str) -> bool:
    """Tell a token in running text from names, however many words and numbers those are made of: its
    letters change their case, or digits stand between them, at almost every place.
    """
    if not 10 <= len(value) <= _JUDGED or not any(each.isdigit() for each in value):
        return False
    humps = _HUMP.findall(value)
    return sum(map(len, humps)) < 3 * len(humps) and is_opaque(value)


def _is_mixed(value: str) -> bool:
    return not (value.islower() or value.isupper()) and any(each.isdigit() for each in value)


def _is_random(value: str) -> bool:
    """Tell chance from words: some part of it is neither a word, a short number nor both."""
    return any(not _is_wordy(part) for part in _JOINT.split(value) if part)


def _is_wordy(part: str) -> bool:
    if not _WORD.fullmatch(part):
        return len(part) < 4
    letters = part.rstrip("0123456789")
    humps = _HUMP.findall(letters)
    # Letters in random case fall apart into pieces too short for words; nobody writes 24 in one.
    return (
        not humps
        or (len(letters) >= 3 * len(humps) and max(map(len, humps)) < 24)
        or len(letters) < 6
    )
