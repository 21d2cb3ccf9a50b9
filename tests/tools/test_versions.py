from __future__ import annotations

import pytest

from tools.versions import version_step


@pytest.mark.parametrize(
    ("before", "after", "step"),
    [
        ("1.4.46", "2.0.0", "major"),
        ("v2.31.0", "v2.32.0", "minor"),
        ("release-1.9", "release-1.10", "minor"),
        ("0.27.2", "0.28.0", "minor"),
        ("3.10.5", "3.10.6", None),
        ("2.0.0-rc1", "2.0.0", None),
        ("2.32.0", "2.31.0", None),
        ("2.0.0", "1.9.0", None),
        ("2.0.0", "1.10.0", None),
    ],
)
def test_a_step_is_more_than_a_patch_and_goes_up(before: str, after: str, step: str | None) -> None:
    assert version_step(before, after) == step


@pytest.mark.parametrize("name", [None, "", "main", "4471", "2023.07.22", "10.0.0.1", "9f1c2ab"])
def test_what_is_no_version_says_nothing(name: str | None) -> None:
    assert version_step("1.0.0", name) is None
    assert version_step(name, "99.0.0") is None
