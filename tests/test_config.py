"""oncall.toml and its variables: what is accepted, and what a person reads when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.config import ConfigError, load
from bot.loop.limits import Limits
from bot.wiring import links, state_folder
from tools.workspace import open_workspace

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    import os  # noqa: PLC0415

    for name in [name for name in os.environ if name.startswith("ONCALL_")]:
        monkeypatch.delenv(name)


def written(root: Path, text: str) -> Path:
    (root / "oncall.toml").write_text(text, encoding="utf-8")
    return root


def refusal(root: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        load(root)
    return str(caught.value)


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    settings = load(written(tmp_path, ""))
    assert settings.limits == Limits()
    assert settings.store.url == "sqlite:///.oncall/oncall.db"
    assert settings.model.kind == "rules"


def test_the_example_file_holds_every_setting_with_its_default(tmp_path: Path) -> None:
    text = (ROOT / "oncall.example.toml").read_text("utf-8")
    assert load(written(tmp_path, text)) == load(written(tmp_path, ""))
    written(tmp_path, text)
    assert [service.name for service in open_workspace(tmp_path).catalog.services] == [
        "payments-api",
        "ledger",
    ]
    for section, settings in load(tmp_path):
        assert f"[{section}]" in text
        for key in type(settings).model_fields:
            assert f"\n{key} = " in text or f"\n# {key} = " in text, f"{section}.{key}"


def test_sections_of_the_workspace_are_let_through(tmp_path: Path) -> None:
    load(written(tmp_path, '[services.web]\nrepo = "r"\n[sources.deploys]\nkind = "local"\n'))


def test_an_unknown_key_is_named_with_its_file_and_the_closest_known_one(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, "[limits]\nmax_step = 3\n"))
    assert said.startswith(f"{tmp_path / 'oncall.toml'}: unknown key `max_step` in [limits].")
    assert "Did you mean `max_steps`?" in said


def test_an_unknown_section_is_named_too(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, "[limit]\nmax_steps = 3\n"))
    assert "unknown [limit]. Did you mean `limits`?" in said
    assert "services" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[web]\nport = 99999\n", "`port` in [web]: input should be less than or equal to 65535"),
        ('[limits]\nmax_steps = "many"\n', "`max_steps` in [limits]: input should be a valid"),
        ('[model]\nkind = "magic"\n', "`kind` in [model]: input should be 'rules'"),
        ('[web]\npublic_url = "bot.example"\n', "`public_url` in [web]:"),
        ('[web]\nsigning_key = "short"\n', "`signing_key` in [web]:"),
        ("limits = 3\n", "[limits]: "),
        ("[limits\n", "is not valid TOML"),
    ],
)
def test_a_value_that_does_not_fit_is_named(tmp_path: Path, text: str, words: str) -> None:
    assert words in refusal(written(tmp_path, text))


def test_limits_that_break_each_other_are_refused_with_the_reason(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, "[limits]\ndeadline_seconds = 10\n"))
    assert "model_call_seconds (20) must be smaller than deadline_seconds - reserve_seconds" in said


def test_a_drain_longer_than_any_run_is_refused(tmp_path: Path) -> None:
    said = refusal(written(tmp_path, "[runs]\ndrain_seconds = 90\n"))
    assert "runs.drain_seconds (90) is more than limits.deadline_seconds (60)" in said


def test_a_file_that_is_not_there_or_not_text_is_said(tmp_path: Path) -> None:
    assert "name a folder that holds an oncall.toml with --workspace" in refusal(tmp_path)
    (tmp_path / "oncall.toml").write_bytes(b"\xff\xfe\x00")
    assert "is not UTF-8 text" in refusal(tmp_path)
    assert "is a file: name the folder" in refusal(tmp_path / "oncall.toml")
    assert "does not exist" in refusal(tmp_path / "oncall.toml" / "deeper")


def test_a_variable_wins_over_the_file_key_by_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, '[web]\nport = 9000\nhost = "bot.internal"\n[limits]\nmax_steps = 4\n')
    monkeypatch.setenv("ONCALL_WEB__PORT", "9100")
    settings = load(tmp_path)
    assert (settings.web.port, settings.web.host, settings.limits.max_steps) == (
        9100,
        "bot.internal",
        4,
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("ONCALL_WEB__PRT", "1", "the variable ONCALL_WEB__PRT: unknown key `prt` in [web]."),
        ("ONCALL_WEBB__PORT", "1", "the variable ONCALL_WEBB__PORT: unknown [webb]."),
        ("ONCALL_WEB__PORT", "x", "the variable ONCALL_WEB__PORT: `port` in [web]:"),
        ("ONCALL_LIMITS", "{", "write ONCALL_SECTION__KEY=value"),
    ],
)
def test_a_wrong_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    monkeypatch.setenv(name, value)
    assert words in refusal(written(tmp_path, ""))


def test_the_signing_key_can_be_set_and_is_never_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONCALL_WEB__SIGNING_KEY", "s" * 32)
    settings = load(written(tmp_path, ""))
    assert "ssss" not in repr(settings)
    token = links(tmp_path, settings).trace("01ABC")
    assert not (tmp_path / ".oncall" / "signing.key").exists()
    assert links(tmp_path, settings).trace("01ABC") == token


def test_the_state_folder_is_private_and_stays_out_of_git(tmp_path: Path) -> None:
    folder = state_folder(tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / ".gitignore").read_text() == "*\n"
