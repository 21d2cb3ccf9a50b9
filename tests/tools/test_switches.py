"""Settings that a change brings, read from its added lines."""

from __future__ import annotations

from tools.diffs import FileDiff
from tools.evidence import change_text
from tools.names import names_changed
from tools.records import FileChange, FileKind, FileStatus
from tools.switches import find_switches


def diff(*added: str, removed: tuple[str, ...] = (), kind: FileKind = FileKind.CODE) -> FileDiff:
    change = FileChange(path="app/config.py", status=FileStatus.MODIFIED, kind=kind)
    return FileDiff(change, "", removed, added, cut=False)


TABLE = (
    "    'request_signing': (",
    "        'request_signing',",
    "        'SHOP_REQUEST_SIGNING',",
    '        "when_supported",',
    "        None,",
    "    ),",
)


def test_a_setting_its_variable_its_default_and_the_other_value() -> None:
    values = ("ALLOWED = (", '    "when_supported",', '    "when_required",', ")")
    (found,) = find_switches(change_text([diff(*TABLE, *values)]))
    assert (found.name, found.variable) == ("request_signing", "SHOP_REQUEST_SIGNING")
    assert (found.default, found.others) == ("when_supported", ("when_required",))


def test_other_values_are_only_said_where_the_lines_show_them() -> None:
    (found,) = find_switches(change_text([diff(*TABLE)]))
    assert found.others == ()


def test_a_variable_without_a_setting_of_its_name_is_none() -> None:
    assert find_switches(change_text([diff("os.environ['SHOP_HOME_DIR']", "x = 'abc'")])) == ()
    assert find_switches(None) == ()


def test_a_setting_in_documents_or_tests_is_none() -> None:
    assert find_switches(change_text([diff(*TABLE, kind=FileKind.TEST)])) == ()


def test_names_that_came_and_went_and_not_those_that_stayed() -> None:
    one = diff(
        "x = read_timeout(url_quote(y))",
        "# nothing_in_comments",
        removed=("x = read_timeout(old_escape(y))",),
    )
    came, went = names_changed([one])
    assert came == ("url_quote",)
    assert went == ("old_escape",)


def test_a_new_option_that_allows_or_skips_something_is_a_setting() -> None:
    script = change_text(
        [diff("if (!options.allowShortKeys && size < 2048) {", "options.payload;")]
    )
    assert [one.name for one in find_switches(script)] == ["allowShortKeys"]
    (found,) = find_switches(
        change_text([diff("def check(name, *, skip_reserved: bool = False):")])
    )
    assert (found.name, found.variable, found.default) == ("skip_reserved", "", "False")


def test_an_option_that_was_there_before_is_not_new() -> None:
    was = ("if (options.allowShortKeys) {",)
    assert (
        find_switches(change_text([diff("if (options.allowShortKeys && a) {", removed=was)])) == ()
    )
