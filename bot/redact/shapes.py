"""Secrets that can be told by their shape alone: what providers issue, and JSON Web Tokens.

One table, read from the top: the first shape that fits names the mask. Gates tell first, for many
shapes at once, whether a text can hold any of them; what they open for is searched, shape by shape,
if one of its ``hints`` is there. Every pattern fails within a bounded number of characters, so that
the whole stays linear. Few have a boundary on their
left: a token glued to a word is a token still. Sources are each provider's documentation of its
format where there is one, and the public rule sets of detect-secrets (Apache-2.0) and gitleaks
(MIT) for the forms that are known from practice.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bot.redact.gate import Gate, literally, widened
from bot.redact.spans import Span

_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


def _mixed(text: str) -> bool:
    """Tell chance from words: capitals, small letters and digits together."""
    return (
        any(each.isdigit() for each in text)
        and any(each.isupper() for each in text)
        and any(each.islower() for each in text)
    )


def _is_encoded_key(text: str) -> bool:
    """Tell a private key in base64, as kubeconfigs hold it, from a certificate."""
    return b"PRIVATE KEY" in base64.b64decode(text[:52])


def _not_only_digits(text: str) -> bool:
    return not text[2:].isdigit()


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret. The group ``secret``, if the pattern has it, is what is masked.

    Without ``hints``, for they would be in every other text, the gate is the pattern itself.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    plausible: Callable[[str], bool] | None = None


def _shape(
    kind: str,
    hints: str,
    pattern: str,
    plausible: Callable[[str], bool] | None = None,
) -> Shape:
    return Shape(kind, tuple(hints.split()), re.compile(pattern, re.ASCII), plausible)


SHAPES: tuple[Shape, ...] = (
    # --- clouds ---
    # docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
    _shape(
        "aws access key",
        "AKIA ASIA ABIA ACCA A3T",
        r"A(?:3T[A-Z0-9]|BIA|CCA|KIA|SIA)[0-9A-Z]{16}",
    ),
    _shape(
        "aws secret key",
        "",
        r"(?i:aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?)[\"'](?P<secret>[0-9a-zA-Z/+]{40})[\"']",
        _mixed,
    ),
    _shape("aws bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}"),
    # cloud.google.com/docs/authentication/api-keys
    _shape("gcp api key", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    _shape("gcp access token", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,1024}"),
    _shape("gcp client secret", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{28}"),
    # learn.microsoft.com/azure/storage/common/storage-configure-connection-string
    _shape(
        "azure key",
        "AccountKey= AccessKey=",
        r"(?:AccountKey|SharedAccessKey|AccessKey)=(?P<secret>[A-Za-z0-9+/=]{40,100})",
    ),
    _shape("azure client secret", "8Q~", r"[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34}"),
    _shape("azure devops token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    _shape("alibaba access key", "LTAI", r"LTAI[A-Za-z0-9]{20}"),
    # docs.digitalocean.com/reference/api/oauth
    _shape("digitalocean token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _shape(
        "softlayer key",
        "softlayer.com/soap/",
        r"softlayer\.com/soap/v3(?:\.1)?/(?P<secret>[A-Za-z0-9]{64})",
    ),
    # --- code hosts and registries ---
    # github.blog/2021-04-05-behind-githubs-new-authentication-token-formats
    _shape("github token", "", r"gh[pousr]_[A-Za-z0-9_]{36,255}"),
    _shape("github token", "github_pat_", r"github_pat_[0-9A-Za-z_]{22,255}"),
    # docs.gitlab.com/security/tokens
    _shape(
        "gitlab token",
        "",
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct|wt)-[A-Za-z0-9_-]{20,1024}"
        r"(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
    ),
    _shape("gitlab token", "GR1348941", r"GR1348941[A-Za-z0-9_-]{20,64}"),
    _shape(
        "bitbucket token",
        "ATBB ATCTT3",
        r"AT(?:BB[A-Za-z0-9]{32}|CTT3xFfG[A-Za-z0-9=_-]{100,300})",
    ),
    _shape("atlassian token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{100,300}"),
    # docs.npmjs.com/about-access-tokens
    _shape("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    # warehouse.pypa.io/development/token-scanning.html
    _shape("pypi token", "pypi-Ag", r"pypi-Ag[A-Za-z0-9_-]{60,1024}"),
    _shape("rubygems token", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _shape("crates.io token", "", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", _mixed),
    _shape("nuget key", "oy2", r"oy2[a-z0-9]{43}"),
    _shape("docker token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,64}"),
    # jfrog: API keys begin with AKC, encrypted passwords with AP and a hexadecimal digit
    _shape("artifactory key", "AKC", r"AKC[A-Za-z0-9]{10,128}"),
    _shape("artifactory key", "", r"AP(?<![\w-]AP)[0-9A-F][A-Za-z0-9]{8,128}(?![\w-])", _mixed),
    _shape(
        "artifactory key", "", r"AP(?<![\w-]AP)[0-9][A-Za-z0-9]{8,128}(?![\w-])", _not_only_digits
    ),
    _shape("artifactory key", "cmVmdGtuO", r"cmVmdGtuO[A-Za-z0-9]{55}"),
    # --- chat and mail ---
    # api.slack.com/authentication/token-types
    _shape(
        "slack token",
        "",
        r"(?i:xox(?:e\.xox[bp]|[a-z])-(?:(?:[0-9]{1,20}-){1,8}[a-z0-9]+|[a-z0-9-]{10,255})[a-z0-9-]{0,255})",
    ),
    _shape("slack token", "xapp-", r"xapp-\d{1,3}-[A-Za-z0-9-]{10,255}"),
    _shape(
        "slack webhook",
        "slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_+/-]{3,255})",
    ),
    _shape(
        "discord webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{16,20}/[A-Za-z0-9_-]{60,80})",
    ),
    _shape(
        "teams webhook",
        ".webhook.office.com/",
        r"\.webhook\.office\.com/(?P<secret>webhookb2/[A-Za-z0-9@/-]{36,300})",
    ),
    # discord.com/developers/docs/reference#authentication
    _shape(
        "discord token",
        "",
        r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}",
        _mixed,
    ),
    # core.telegram.org/bots/api#authorizing-your-bot
    _shape(
        "telegram token", "", r":(?<=\d{8}:)(?P<secret>[0-9A-Za-z_-]{35})(?![0-9A-Za-z_-])", _mixed
    ),
    # docs.sendgrid.com: three parts with dots
    _shape("sendgrid key", "SG.", r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shape("mailchimp key", "-us", r"-us(?<=(?P<secret>[0-9a-z]{32})-us)[0-9]{1,2}"),
    _shape("mailgun key", "key-", r"key-(?<![\w-]key-)[0-9a-f]{32}"),
    # twilio.com/docs/glossary/what-is-a-sid
    _shape("twilio key", "", r"(?:AC|SK)[a-z0-9]{32}"),
    _shape("brevo key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    # --- money ---
    # docs.stripe.com/keys
    _shape("stripe key", "", r"[prs]k_(?:live|test)_[0-9a-zA-Z]{16,255}"),
    _shape("stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{32,128}"),
    # developer.squareup.com/docs/build-basics/access-tokens
    _shape("square secret", "sq0", r"sq0[a-z]{3}-[0-9A-Za-z\\_-]{22,64}"),
    _shape("square token", "EAAA", r"EAAA[A-Za-z0-9_-]{60}"),
    _shape("shopify token", "", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape(
        "paypal token",
        "access_token$",
        r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}",
    ),
    # --- models ---
    _shape("anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,255}"),
    # community.openai.com: user, project and service keys
    _shape(
        "openai key",
        "T3BlbkFJ",
        r"(?:sk-[A-Za-z0-9_-]{20,200}|[A-Za-z0-9_-]{20})T3BlbkFJ[A-Za-z0-9_-]{20,180}",
    ),
    _shape("openai key", "", r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{40,255}", _mixed),
    _shape("openrouter key", "sk-or-", r"sk-or-v1-[a-f0-9]{64}"),
    _shape("huggingface token", "hf_", r"hf_[A-Za-z0-9]{34}"),
    _shape("groq key", "gsk_", r"gsk_[A-Za-z0-9]{52}"),
    _shape("replicate token", "r8_", r"r8_[A-Za-z0-9]{37}"),
    _shape("perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{48}"),
    _shape("xai key", "xai-", r"xai-[A-Za-z0-9]{70,100}"),
    # --- operations ---
    # grafana.com/docs/grafana/latest/administration/service-accounts
    _shape("grafana token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _shape("grafana token", "glc_", r"glc_[A-Za-z0-9+/]{32,400}={0,2}"),
    # developer.hashicorp.com/vault/docs/concepts/tokens
    _shape("vault token", "", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _shape("vault token", "", r"s\.(?<![\w.]s\.)[A-Za-z0-9]{24}(?![\w.(])", _mixed),
    _shape("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    # docs.doppler.com/reference/auth-token-formats
    _shape(
        "doppler token",
        "dp.",
        r"dp\.(?:pt|ct|st|sa|scim|audit|scrt)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
    ),
    _shape(
        "new relic key",
        "",
        r"NR(?:AK-[A-Z0-9]{27}|JS-[a-f0-9]{19}|AA-[a-f0-9]{27}|II-[A-Za-z0-9-]{32})",
    ),
    _shape("sentry token", "sntry", r"sntry[su]_[A-Za-z0-9+/=_-]{40,400}"),
    _shape("datadog token", "ddapp_ ddpat_", r"dd(?:app|pat)_[A-Za-z0-9]{30,64}"),
    _shape("pagerduty key", "Token token=", r"Token token=(?P<secret>[A-Za-z0-9_+-]{16,64})"),
    _shape("linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    _shape(
        "notion token",
        "ntn_ secret_",
        r"(?:ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{43})(?!\w)",
        _mixed,
    ),
    _shape("postman key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _shape("databricks token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _shape("dynatrace token", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _shape(
        "fly.io token",
        "",
        r"(?:fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{100,}={0,3})",
    ),
    _shape("heroku key", "HRKU-", r"HRKU-[A-Za-z0-9_-]{36,80}"),
    _shape(
        "heroku key",
        "",
        rf"(?i:heroku)[\w .-]{{0,20}}[\"']?\s?[=:]\s?[\"']?(?P<secret>{_UUID})",
    ),
    _shape("supabase key", "sbp_ sb_secret_", r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{31})"),
    _shape("planetscale key", "pscale_", r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9=._-]{32,64}"),
    _shape("pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    _shape("figma token", "figd_", r"figd_[A-Za-z0-9_-]{40}"),
    _shape("airtable token", "", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _shape("1password token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{250,}={0,3}"),
    _shape(
        "age secret key",
        "AGE-SECRET-KEY-1",
        r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}",
    ),
    # RFC 7468 in base64, on one line or folded as base64(1) and YAML do
    _shape(
        "private key",
        "LS0tLS1CRUdJTi",
        r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,}(?:\\?\r?\n[-+ ]?[ \t]{0,40}[A-Za-z0-9+/]{40,})*={0,2}",
        _is_encoded_key,
    ),
    # kubernetes.io/docs/concepts/configuration/secret: config.json of a container registry, in base64
    _shape(
        "registry credentials",
        "eyJhdXRocyI6 eyAiYXV0aHMi ewogICJhdXRocyI ewogICAgImF1dGhzIj ewoJImF1dGhzIj",
        r"(?:eyJhdXRocyI6|eyAiYXV0aHMi|ewogICJhdXRocyI|ewogICAgImF1dGhzIj|ewoJImF1dGhzIj)"
        r"[A-Za-z0-9+/]{16,}={0,2}",
    ),
    # RFC 7519, RFC 7516: the first part is base64url of {" and the rest are parts with dots
    _shape(
        "json web token",
        "eyJ",
        r"(?P<secret>eyJ[A-Za-z0-9_=-]{7,}+\.[A-Za-z0-9_=-]{2,}+(?:\.[A-Za-z0-9_.+/=-]*+)?)|eyJ[A-Za-z0-9_=-]*+",
    ),
)


# A token that was cut off with its line keeps too much of itself; what marks a cut is an ellipsis.
_CUT = re.compile(
    r"(?:gh[pousr]_|github_pat_|gl[a-z]{2,5}-|AKIA|ASIA|AIza|ya29\.|xox[a-z]-|xapp-|[prs]k_(?:live|test)_|sk-|npm_|pypi-"
    r"|hv[sbr]\.|SG\.|eyJ|gls?a?_|do[opr]_v1_|dp\.[a-z]{2,5}\.|shp[a-z]{2}_|whsec_)[\w.+/=-]{4,300}+\Z"
)


def _sign(shape: Shape) -> str:
    return literally(shape.hints) or widened(shape.pattern.pattern)


SIGNS = (*map(_sign, SHAPES), "…")
"""Patterns of gates: a text in which something is found has one of them."""


def _gated() -> Iterator[tuple[Gate, tuple[int, ...]]]:
    """Yield the table's places in groups. Some ten literal hints are found by comparing many bytes
    at once.
    """
    told = [place for place, shape in enumerate(SHAPES) if shape.hints]
    untold = [place for place, shape in enumerate(SHAPES) if not shape.hints]
    for group in (*(told[at : at + _GROUP] for at in range(0, len(told), _GROUP)), untold):
        yield Gate(_sign(SHAPES[place]) for place in group), tuple(group)


_GROUP = 12
_GATED = tuple(_gated())


def _possible(text: str) -> list[Shape]:
    """Return the shapes that ``text`` may hold, in the order of the table."""
    places = sorted(place for gate, group in _GATED if gate.opens(text) for place in group)
    shapes = (SHAPES[place] for place in places)
    return [s for s in shapes if not s.hints or any(hint in text for hint in s.hints)]


def find(text: str) -> Iterator[Span]:
    """Yield every secret of the table in ``text``."""
    for shape in _possible(text):
        group: str | int = "secret" if "secret" in shape.pattern.groupindex else 0
        for found in shape.pattern.finditer(text):
            start, end = found.span(group)
            if start >= 0 and (shape.plausible is None or shape.plausible(text[start:end])):
                yield Span(start, end, shape.kind)
    yield from _cut_off(text)


def _cut_off(text: str) -> Iterator[Span]:
    before, at = -1, text.find("…")
    while at != -1:
        since = max(before + 1, at - 320)
        if cut := _CUT.search(text[since:at]):
            yield Span(since + cut.start(), at, "token cut off")
        before, at = at, text.find("…", at + 1)
