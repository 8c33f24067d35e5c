"""Which settings hold for which file: the nearest file, `extend`, `--config`, options, the environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gradlint.config import Hierarchy, Settings, load_settings, settings_from
from gradlint.errors import RunError
from gradlint.files.patterns import Pattern
from support import BROKEN, CLEAN, FAULTY, Outcome, Run, codes, places

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

JSON = ("--output-format", "json")
#: GL003 on line 2.
UNUSED = "import keras\nx = 1  # gradlint: ignore[GL002]\n"


def checked(run: Run, *arguments: str) -> list[tuple[str, str]]:
    """File and code of each finding."""
    return [(name, code) for name, _, code in places(run("check", *arguments, *JSON))]


def shown(run: Run, *arguments: str) -> tuple[dict[str, object], str]:
    """The settings that are printed, as TOML has them, and the text."""
    result = run("check", "--show-settings", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return tomllib.loads(result.stdout), result.stdout


def failed(result: Outcome) -> str:
    """The one line of a run that failed."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("gradlint: ").rstrip("\n")


# Which file


def test_each_file_is_judged_under_the_nearest_configuration(run: Run) -> None:
    run.write("gradlint.toml", 'ignore = ["GL101"]\n')
    run.write("inner/gradlint.toml", "")
    for name in ("a.py", "inner/b.py", "inner/deep/c.py", "other/d.py"):
        run.write(name, FAULTY)

    assert checked(run) == [("inner/b.py", "GL101"), ("inner/deep/c.py", "GL101")]
    assert checked(run, "other", "inner/deep", "--jobs", "2") == [("inner/deep/c.py", "GL101")]


@pytest.mark.parametrize(
    ("names", "winner"),
    [
        (["pyproject.toml"], "pyproject.toml"),
        (["pyproject.toml", "gradlint.toml"], "gradlint.toml"),
        (["pyproject.toml", "gradlint.toml", ".gradlint.toml"], ".gradlint.toml"),
    ],
)
def test_in_one_folder_the_file_of_our_own_name_goes_first(run: Run, names: list[str], winner: str) -> None:
    for name in names:
        keras = 2 if name == winner else 3
        run.write(name, f"{'[tool.gradlint]' if name == 'pyproject.toml' else ''}\nkeras = {keras}\n")

    assert load_settings().keras == 2


def test_a_folder_with_the_name_of_a_configuration_file_is_none(run: Run) -> None:
    run.write("gradlint.toml/a.py", FAULTY)

    assert checked(run) == [("gradlint.toml/a.py", "GL101")]


def test_a_broken_file_further_down_ends_the_run(run: Run) -> None:
    run.write("a.py", CLEAN)
    run.write("inner/gradlint.toml", "selct = []\n")
    run.write("inner/b.py", CLEAN)

    assert failed(run("check")) == 'inner/gradlint.toml:1: selct: no such setting; did you mean "select"?'
    assert run("check", "a.py").exit_code == 0


def test_order_does_not_depend_on_processes_when_settings_differ(run: Run) -> None:
    for folder, ignored in (("one", "GL003"), ("two", "GL101"), ("three", "GL201")):
        run.write(f"{folder}/gradlint.toml", f'ignore = ["{ignored}"]\n')
        for number in range(25):
            run.write(f"{folder}/{number:02}.py", FAULTY if number % 2 else UNUSED)

    found = checked(run, "--jobs", "1")

    assert found == checked(run, "--jobs", "2")
    assert found == sorted(found)
    assert {(name.split("/")[0], code) for name, code in found} == {
        ("one", "GL101"),
        ("two", "GL003"),
        ("three", "GL101"),
        ("three", "GL003"),
    }


def test_a_finding_counts_under_the_settings_of_the_file_it_stands_in(run: Run) -> None:
    run.write("losses/losses.py", "import tensorflow as tf\n\n\ndef loss_of(w):\n    return tf.round(w) * 3.0\n")
    run.write("gradlint.toml", 'src = ["losses"]\nselect = ["GL1"]\n')
    run.write("losses/gradlint.toml", 'severity = { GL202 = "info" }\n')
    for name in ("first.py", "second.py"):
        run.write(
            name,
            "import tensorflow as tf\nfrom losses import loss_of\n\nw = tf.Variable(2.0)\n"
            "with tf.GradientTape() as tape:\n    loss = loss_of(w)\ntape.gradient(loss, w)\n",
        )

    for jobs in ("1", "2"):
        result = run("check", "--jobs", jobs, *JSON)
        assert [(each["filename"], each["code"], each["severity"]) for each in result.findings] == [
            ("losses/losses.py", "GL202", "info")
        ]
        assert result.exit_code == 0

    run.write("losses/gradlint.toml", 'ignore = ["GL202"]\n')
    run.write("gradlint.toml", 'src = ["losses"]\n')
    assert checked(run) == []
    assert checked(run, "first.py") == []


# extend


def test_a_file_adds_to_the_one_that_it_extends(run: Run) -> None:
    run.write(
        "gradlint.toml",
        'select = ["GL1"]\nextend-select = ["GL2"]\nextend-ignore = ["GL003"]\nkeras = 2\nexclude = ["old/"]\n'
        'per-file-ignores = { "a.py" = ["GL1"] }\nsrc = ["lib"]\nseverity = { GL1 = "info", GL2 = "info" }\n',
    )
    run.write(
        "inner/gradlint.toml",
        'extend = "../gradlint.toml"\nselect = ["GL3"]\nextend-select = ["GL4"]\nextend-ignore = ["GL004"]\n'
        'per-file-ignores = { "b.py" = ["GL1"] }\nextend-exclude = ["new/"]\nseverity = { GL1 = "error" }\n',
    )

    settings = load_settings(["inner"])

    outer, inner = str(run.folder), str(run.folder / "inner")
    assert settings.select == ("GL3",)
    assert settings.extend_select == ("GL2", "GL4")
    assert settings.extend_ignore == ("GL003", "GL004")
    assert settings.keras == 2
    assert settings.src == (f"{outer}/lib",)
    assert settings.root == Path(inner)
    assert (settings.exclude, settings.extend_exclude) == ((Pattern("old/", outer),), (Pattern("new/", inner),))
    assert [(each.pattern, each.rules) for each in settings.per_file_ignores] == [
        (Pattern("a.py", outer), ("GL1",)),
        (Pattern("b.py", inner), ("GL1",)),
    ]
    assert {code[:3] for code in settings.selected} - {"GL0"} == {"GL2", "GL3", "GL4"}


def test_a_pyproject_and_the_home_folder_can_be_extended(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(run.folder / "home"))
    run.write("home/pyproject.toml", '[tool.gradlint]\nextend = "base.toml"\n')
    run.write("home/base.toml", "keras = 2\n")
    run.write("gradlint.toml", 'extend = "~/pyproject.toml"\n')

    assert load_settings().keras == 2


def test_a_circle_of_files_is_told(run: Run) -> None:
    run.write("gradlint.toml", 'keras = 2\nextend = "b/gradlint.toml"\n')
    run.write("b/gradlint.toml", 'extend = "../c.toml"\n')
    run.write("c.toml", '\nextend = "./gradlint.toml"\n')

    assert failed(run("check")) == (
        "c.toml:2: extend: the files extend each other in a circle: "
        "gradlint.toml -> b/gradlint.toml -> c.toml -> gradlint.toml"
    )


def test_a_file_that_extends_itself_is_told(run: Run) -> None:
    run.write("gradlint.toml", 'extend = "gradlint.toml"\n')

    assert failed(run("check")).startswith("gradlint.toml:1: extend: the files extend each other in a circle")


def test_a_chain_of_a_thousand_files_is_followed_and_its_circle_found(run: Run) -> None:
    for number in range(1000):
        run.write(f"{number}.toml", f'extend = "{number + 1}.toml"\n')
    run.write("1000.toml", "keras = 2\n")
    run.write("a.py", UNUSED)

    assert shown(run, "--config", "0.toml")[0]["keras"] == 2

    run.write("1000.toml", 'extend = "0.toml"\n')
    assert "1000.toml:1: extend: the files extend each other in a circle" in failed(run("check", "--config", "0.toml"))


@pytest.mark.parametrize(
    ("extended", "complaint"),
    [
        ("nowhere.toml", "gradlint.toml:2: extend: nowhere.toml: no such file"),
        ("inner", "gradlint.toml:2: extend: inner: is a folder"),
        ("pyproject.toml", "gradlint.toml:2: extend: pyproject.toml: no table [tool.gradlint]"),
        ("broken.toml", "broken.toml:1: invalid value"),
        ("wrong.toml", "wrong.toml:1: keras: expected 2 or 3, got 7"),
    ],
)
def test_a_file_that_cannot_be_extended_is_told(run: Run, extended: str, complaint: str) -> None:
    run.write("gradlint.toml", f'# the team\nextend = "{extended}"\n')
    run.write("inner/a.py")
    run.write("pyproject.toml", "[project]\nname = 'a'\n")
    run.write("broken.toml", "keras = \n")
    run.write("wrong.toml", "keras = 7\n")

    assert failed(run("check")) == complaint


# per-file-ignores and severity


def test_rules_are_left_out_in_the_files_that_a_pattern_matches(run: Run) -> None:
    run.write("gradlint.toml", '[per-file-ignores]\n"tests/" = ["GL1"]\n"/b.py" = ["forward-outside-tape"]\n')
    for name in ("a.py", "b.py", "tests/c.py", "deep/tests/d.py", "deep/b.py"):
        run.write(name, FAULTY)

    assert checked(run) == [("a.py", "GL101"), ("deep/b.py", "GL101")]


def test_a_pattern_with_an_exclamation_mark_means_all_other_files(run: Run) -> None:
    run.write("gradlint.toml", '[per-file-ignores]\n"!src/" = ["GL1"]\n')
    for name in ("a.py", "src/b.py"):
        run.write(name, FAULTY)

    assert checked(run) == [("src/b.py", "GL101")]


def test_a_comment_is_not_unused_where_its_rule_is_left_out(run: Run) -> None:
    run.write("gradlint.toml", '[per-file-ignores]\n"a.py" = ["GL002"]\n')
    run.write("a.py", UNUSED)
    run.write("b.py", UNUSED)

    assert checked(run) == [("b.py", "GL003")]


def test_per_file_ignores_speak_of_names_given_on_standard_input(run: Run) -> None:
    run.write("tests/gradlint.toml", '[per-file-ignores]\n"a.py" = ["GL101"]\n')

    for name, expected in (("tests/a.py", []), ("tests/b.py", ["GL101"]), ("a.py", ["GL101"])):
        result = run("check", "-", "--stdin-filename", name, *JSON, stdin=FAULTY.encode())
        assert codes(result.stdout) == expected


@pytest.mark.parametrize(
    ("table", "severity", "status"),
    [
        ('GL101 = "info"', "info", 0),
        ('forward-outside-tape = "warning"', "warning", 1),
        ('ALL = "info"\nGL1 = "warning"', "warning", 1),
        ('GL101 = "error"\nGL10 = "info"', "error", 1),
        ('GL2 = "info"', "error", 1),
    ],
)
def test_the_severity_of_the_settings_counts_in_reports_and_exit_status(
    run: Run, table: str, severity: str, status: int
) -> None:
    run.write("gradlint.toml", f"[severity]\n{table}\n")
    run.write("a.py", FAULTY)

    result = run("check", *JSON)

    assert [each["severity"] for each in result.findings] == [severity]
    assert result.exit_code == status
    assert f" {severity} GL101" in run("check", "--output-format", "concise").stdout


def test_rules_about_files_and_comments_have_severities_too(run: Run) -> None:
    run.write("gradlint.toml", '[severity]\nsyntax-error = "info"\nGL00 = "info"\n')
    run.write("a.py", BROKEN)
    run.write("b.py", UNUSED)

    result = run("check", *JSON)

    assert [each["severity"] for each in result.findings] == ["info", "info"]
    assert result.exit_code == 0


@pytest.mark.parametrize("name", ["gradlint.toml", ".gradlint.toml"])
def test_settings_behind_a_broken_link_end_the_run(run: Run, name: str) -> None:
    (run.folder / name).symlink_to("nowhere.toml")
    (run.folder / "pyproject.toml").symlink_to("nowhere.toml")  # may be about anything
    run.write("inner/a.py", CLEAN)

    assert failed(run("check")) == f"{name}: broken symbolic link"

    (run.folder / name).unlink()
    assert run("check").exit_code == 0


@pytest.mark.parametrize("word", ["ALL", "GL", "GL0"])
def test_a_file_that_cannot_be_judged_is_no_hint_unless_its_rule_is_named(run: Run, word: str) -> None:
    run.write("gradlint.toml", f'[severity]\n{word} = "info"\n')
    run.write("a.py", BROKEN)

    result = run("check", *JSON)

    assert [(each["code"], each["severity"]) for each in result.findings] == [("GL001", "error")]
    assert result.exit_code == 1


def test_the_fail_level_says_which_findings_count(run: Run) -> None:
    run.write("a.py", UNUSED)  # a warning

    assert run("check").exit_code == 1
    assert run("check", "--config", "fail-level = 'error'").exit_code == 0
    assert run("check", "--config", "fail-level = 'info'", "--config", "severity.GL003 = 'info'").exit_code == 1


def test_no_folder_says_that_faults_in_another_one_do_not_count(run: Run) -> None:
    run.write("vendor/gradlint.toml", 'fail-level = "error"\n')
    run.write("vendor/a.py", UNUSED)
    run.write("b.py", UNUSED)

    assert run("check", "vendor").exit_code == 0
    for order in (("vendor", "b.py"), ("b.py", "vendor"), (".",)):
        assert run("check", *order).exit_code == 1


# --config, --isolated, the environment


def test_a_named_file_takes_the_place_of_all_others(run: Run) -> None:
    run.write("gradlint.toml", 'ignore = ["GL101"]\n')
    run.write("inner/gradlint.toml", 'ignore = ["GL101"]\n')
    run.write("ci/strict.toml", 'exclude = ["/other"]\n')
    for name in ("a.py", "inner/b.py", "other/c.py"):
        run.write(name, FAULTY)

    assert checked(run, "--config", "ci/strict.toml") == [("a.py", "GL101"), ("inner/b.py", "GL101")]


def test_a_pyproject_can_be_named(run: Run) -> None:
    run.write("ci/pyproject.toml", '[tool.gradlint]\nignore = ["GL101"]\n')
    run.write("a.py", FAULTY)

    assert checked(run, "--config", "ci/pyproject.toml") == []


def test_settings_on_the_command_line_go_before_files_and_options_before_both(run: Run) -> None:
    run.write("gradlint.toml", 'select = ["GL003"]\nkeras = 2\n')
    run.write("a.py", UNUSED + FAULTY)

    assert checked(run) == [("a.py", "GL003")]
    assert checked(run, "--config", 'select = ["GL101"]') == [("a.py", "GL101")]
    assert checked(run, "--config", 'select = ["GL101"]', "--select", "GL003") == [("a.py", "GL003")]
    assert shown(run, "--config", "keras = 3", "--config", "severity.GL1 = 'info'")[0]["keras"] == 3


def test_isolated_reads_no_file(run: Run) -> None:
    run.write("gradlint.toml", 'ignore = ["GL101"]\nno = "sense"\n')
    run.write("a.py", FAULTY)

    assert checked(run, "--isolated") == [("a.py", "GL101")]
    assert checked(run, "--isolated", "--config", 'ignore = ["GL1"]') == []


def test_the_environment_names_a_file_where_no_option_does(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("a.py", FAULTY)
    run.write("quiet.toml", 'ignore = ["GL1"]\n')
    run.write("loud.toml", "")
    monkeypatch.setenv("GRADLINT_CONFIG", "quiet.toml")

    assert checked(run) == []
    assert checked(run, "--config", "loud.toml") == [("a.py", "GL101")]
    assert checked(run, "--isolated") == [("a.py", "GL101")]

    monkeypatch.setenv("GRADLINT_CONFIG", "nowhere.toml")
    assert failed(run("check")) == "GRADLINT_CONFIG: nowhere.toml: no such file"


def test_the_output_format_comes_from_option_environment_or_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("a.py", FAULTY)
    run.write("gradlint.toml", 'output-format = "concise"\n')

    assert run("check").stdout.startswith("a.py:3:8: error GL101")
    assert "\n   trace" not in run("check").stdout
    monkeypatch.setenv("GRADLINT_OUTPUT_FORMAT", "json")
    assert run("check").stdout.startswith("[")
    assert "\n   trace" in run("check", "--output-format", "full").stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--config", "nowhere.toml"], '--config: nowhere.toml: no such file, and not of the form "key = value"'),
        (["--config", "inner"], "--config: inner: is a folder"),
        (["--config", "keras = 7"], "--config: keras: expected 2 or 3, got 7"),
        (["--config", "keras = "], "--config: invalid value"),
        (["--config", "kers = 3"], '--config: kers: no such setting; did you mean "keras"?'),
        (
            ["--config", 'select = ["GL1O1"]'],
            '--config: select: no rule "GL1O1"; did you mean "GL101" (forward-outside-tape)?',
        ),
        (["--config", 'extend = "a.toml"'], "--config: extend: only a file can extend another one"),
        (
            ["--config", "a.toml", "--config", "b.toml"],
            "--config: more than one file; let one of them extend the other",
        ),
        (["--config", "a.toml", "--isolated"], "--isolated: no file is read, so that --config cannot name one"),
        (["--config", "bare/pyproject.toml"], "bare/pyproject.toml: no table [tool.gradlint]"),
        (
            ["--extend-select", "GL1O1"],
            '--extend-select: no rule "GL1O1"; did you mean "GL101" (forward-outside-tape)?',
        ),
        (["--per-file-ignores", "tests"], "--per-file-ignores: expected PATTERN:RULES, got 'tests'"),
        (
            ["--per-file-ignores", "tests:GL1O1"],
            '--per-file-ignores: tests: no rule "GL1O1"; did you mean "GL101" (forward-outside-tape)?',
        ),
        (["--exclude", "!"], "--exclude: a pattern is empty"),
        (["--exclude", ""], "--exclude: names no pattern"),
        (["--select", ""], "--select: names no rule"),
        (["--select", " , "], "--select: names no rule"),
        (["--extend-ignore", ""], "--extend-ignore: names no rule"),
        (["--select", "all"], '--select: no rule "all"; did you mean "ALL"?'),
        (["--config", "keras = 2024-01-31"], "--config: keras: expected 2 or 3, got 2024-01-31"),
        (
            ["--config", "keras = [2024-01-31, 'a', true]"],
            "--config: keras: expected 2 or 3, got [2024-01-31, 'a', true]",
        ),
        (
            ["--config", f"keras = 0x{'F' * 5000}"],
            "--config: keras: expected 2 or 3, got a number of thousands of digits",
        ),
        (
            ["--config", f"output-format = 0x{'F' * 5000}"],
            '--config: output-format: expected "full", "concise", "grouped", "json", "json-lines", "sarif", "github", '
            '"gitlab", "junit", "pylint" or "markdown", got a number of thousands of digits',
        ),
        (["--show-files", "--show-settings"], "--show-files: not together with --show-settings"),
    ],
)
def test_options_that_make_no_sense_end_the_run_in_one_line(run: Run, arguments: list[str], complaint: str) -> None:
    run.write("a.toml")
    run.write("b.toml")
    run.write("inner/c.py", FAULTY)
    run.write("bare/pyproject.toml", "[project]\n")

    assert failed(run("check", *arguments)) == complaint


def test_flow_takes_a_configuration_too(run: Run) -> None:
    program = FAULTY.replace("loss = w * w", "import mylib\nloss = mylib.ops.lookup(w)").replace("pass", "\n    x = 1")
    run.write("a.py", program)

    assert run("flow", "a.py", "--config", "keras = 7").stderr == "gradlint: --config: keras: expected 2 or 3, got 7\n"
    assert run("flow", "a.py", "--isolated").exit_code == 0


# Options that choose rules and files


def test_options_that_extend_add_to_the_settings(run: Run) -> None:
    run.write("gradlint.toml", 'select = ["GL003"]\nignore = ["GL101"]\nexclude = ["old/"]\n')
    run.write("a.py", UNUSED + FAULTY)
    run.write("old/b.py", UNUSED)
    run.write("new/c.py", UNUSED)

    assert checked(run) == [("a.py", "GL003"), ("new/c.py", "GL003")]
    assert checked(run, "a.py", "--extend-select", "GL101") == [("a.py", "GL003"), ("a.py", "GL101")]
    assert checked(run, "--extend-ignore", "unused-suppression") == []
    assert checked(run, "--extend-exclude", "new/") == [("a.py", "GL003")]
    assert checked(run, "--exclude", "new/") == [("a.py", "GL003"), ("old/b.py", "GL003")]
    assert checked(run, "--per-file-ignores", "new/:GL003,GL101", "--per-file-ignores", "a.py:GL003") == []


@pytest.mark.parametrize("ignore", ["GL1", "GL", "ALL", "GL101", "forward-outside-tape"])
@pytest.mark.parametrize("select", ["GL1", "GL101", "forward-outside-tape"])
def test_what_an_option_says_of_a_rule_counts_more_than_a_closer_word_of_a_file(
    run: Run, select: str, ignore: str
) -> None:
    run.write("a.py", FAULTY)
    run.write("gradlint.toml", f'select = ["{select}"]\n')
    for option in ("--ignore", "--extend-ignore"):
        assert checked(run, option, ignore) == []
    assert checked(run, "--config", f'ignore = ["{ignore}"]') == []

    run.write("gradlint.toml", f'ignore = ["{select}"]\n')
    assert checked(run) == []
    assert checked(run, "--extend-select", ignore) == [("a.py", "GL101")]
    assert checked(run, "--config", f'extend-select = ["{ignore}"]') == [("a.py", "GL101")]


def test_of_the_words_of_options_the_closer_one_wins_and_others_of_the_files_stay(run: Run) -> None:
    run.write("a.py", UNUSED + FAULTY)
    run.write("gradlint.toml", 'ignore = ["GL"]\n')

    assert checked(run, "--extend-select", "GL1") == [("a.py", "GL101")]
    assert checked(run, "--extend-select", "GL", "--ignore", "GL101") == [("a.py", "GL003")]
    assert checked(run, "--ignore", "GL", "--extend-select", "GL101") == [("a.py", "GL101")]
    assert checked(run, "--extend-select", "GL101", "--ignore", "GL101") == []


def test_a_folder_that_is_named_is_judged_though_it_is_excluded(run: Run) -> None:
    run.write("gradlint.toml", 'exclude = ["legacy", "*_pb2.py"]\n')
    for name in ("a.py", "legacy/b.py", "legacy/deep/c.py", "legacy/d_pb2.py"):
        run.write(name, FAULTY)

    assert checked(run) == [("a.py", "GL101")]
    assert checked(run, "legacy") == [("legacy/b.py", "GL101"), ("legacy/deep/c.py", "GL101")]
    assert checked(run, ".", "legacy/deep") == [("a.py", "GL101"), ("legacy/deep/c.py", "GL101")]
    assert checked(run, "legacy", "--force-exclude") == []


def test_that_nothing_is_judged_as_all_is_excluded_is_said(run: Run) -> None:
    run.write("a/b.py", FAULTY)
    run.write("c/notes.txt")

    assert run("check", "a", "--exclude", "b.py").stderr == "gradlint: no Python files in a that are not excluded\n"
    assert run("check", "c", "--exclude", "b.py").stderr == "gradlint: no Python files in c\n"


@pytest.mark.parametrize(
    "pattern",
    [
        "./legacy",
        "./legacy/",
        "././legacy/*.py",
        "{root}/legacy",
        "{root}/legacy/b.py",
        "./",
        "../inner/legacy",
        "x,legacy",
    ],
)
def test_patterns_may_be_paths_of_files_and_folders(run: Run, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("inner/legacy/b.py", FAULTY)
    run.write("inner/gradlint.toml", "")
    monkeypatch.chdir("inner")
    pattern = pattern.replace("{root}", str(run.folder / "inner"))

    assert checked(run) == [("legacy/b.py", "GL101")]
    assert checked(run, "--exclude", pattern) == []
    if "," not in pattern:
        assert checked(run, "--per-file-ignores", f"{pattern}:GL101") == []
        run.write("inner/gradlint.toml", f'exclude = ["{pattern}"]\n')
        assert checked(run) == []


def test_a_pattern_may_lead_to_a_folder_elsewhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.write("one/legacy/a.py", FAULTY)
    run.write("two/b.py", FAULTY)
    monkeypatch.chdir("two")
    elsewhere = str(run.folder / "one" / "legacy")

    assert checked(run, "../one", ".", "--exclude", "../one/legacy") == [("b.py", "GL101")]
    assert checked(run, "../one", ".", "--exclude", elsewhere) == [("b.py", "GL101")]
    assert checked(run, ".", "--exclude", "/b.py") == []


def test_an_exclude_with_an_exclamation_mark_brings_a_folder_back(run: Run) -> None:
    run.write("gradlint.toml", 'exclude = ["!build/"]\n')
    run.write("build/a.py", FAULTY)
    run.write("dist/b.py", FAULTY)

    assert checked(run) == [("build/a.py", "GL101")]


def test_excludes_reach_named_paths_when_they_are_forced(run: Run) -> None:
    run.write("gradlint.toml", 'exclude = ["old/", "*_pb2.py"]\n')
    run.write("inner/gradlint.toml", 'exclude = ["skipped.py"]\n')
    named = ["old/a.py", "b_pb2.py", "c.py", "build/lib/d.py", "inner/skipped.py", "inner/e.py", "inner/old/f.py"]
    for name in named:
        run.write(name, FAULTY)

    assert [name for name, _ in checked(run, *named)] == sorted(named)
    assert [name for name, _ in checked(run, "--force-exclude", *named)] == ["c.py", "inner/e.py", "inner/old/f.py"]
    assert run("check", "--force-exclude", "old").stderr == "gradlint: no Python files in old that are not excluded\n"


@pytest.mark.parametrize("is_repository", [True, False])
def test_forced_excludes_do_not_depend_on_the_working_folder(
    run: Run, monkeypatch: pytest.MonkeyPatch, is_repository: bool
) -> None:
    run.write("build/project/gradlint.toml", 'exclude = ["old/"]\n')
    run.write("build/project/inner/gradlint.toml", "")
    for name in ("inner/a.py", "inner/old/b.py", "build/c.py"):
        run.write(f"build/project/{name}", FAULTY)
    project = run.folder / "build" / "project"
    if is_repository:
        (project / ".git").mkdir()
        run.write("gradlint.toml", 'exclude = ["*.py"]\n')  # of another project, around this one

    for folder in (run.folder, project, project / "build", project / "inner" / "old"):
        monkeypatch.chdir(folder)
        named = [str(project / name) for name in ("inner/a.py", "build/c.py")]
        assert [os.path.abspath(name) for name, _ in checked(run, "--force-exclude", *named)] == named[:1], folder


def test_excludes_reach_standard_input_when_they_are_forced(run: Run) -> None:
    run.write("gradlint.toml", 'exclude = ["old/"]\n')
    arguments = ("check", "-", "--stdin-filename", "old/a.py", *JSON)

    assert codes(run(*arguments, stdin=FAULTY.encode()).stdout) == ["GL101"]
    assert codes(run(*arguments, "--force-exclude", stdin=FAULTY.encode()).stdout) == []


def test_code_in_documents_is_judged_where_the_settings_say_so(run: Run) -> None:
    run.write("docs/gradlint.toml", "include-docs = true\n")
    for name in ("README.md", "docs/guide.md"):
        run.write(name, f"```python\n{FAULTY}```\n")
    run.write("a.py", CLEAN)

    assert checked(run) == [("docs/guide.md", "GL101")]
    assert checked(run, "--include-docs") == [("README.md", "GL101"), ("docs/guide.md", "GL101")]


# Showing


def test_settings_are_shown_as_toml_with_the_place_that_each_value_comes_from(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nextend = "base.toml"\nextend-ignore = ["GL004"]\n')
    run.write("base.toml", 'keras = 2\nextend-ignore = ["GL003"]\n\n[per-file-ignores]\n"a \\"b\\"" = ["GL1"]\n')
    run.write("package/a.py", CLEAN)

    table, text = shown(run, "--select", "GL1", "--config", "severity.GL101 = 'info'")

    assert text.startswith("# the settings for package/a.py\n# read from: pyproject.toml, base.toml\n")
    assert table["select"] == ["GL1"]
    assert table["keras"] == 2
    assert table["per-file-ignores"] == {'a "b"': ["GL1"]}
    assert table["severity"] == {"GL101": "info"}
    assert 'select = ["GL1"]  # --select\n' in text
    assert "keras = 2  # base.toml:1\n" in text
    assert "[severity]  # --config\n" in text
    assert "include-docs = false  # default\n" in text
    assert 'extend-ignore = ["GL003", "GL004"]  # base.toml:2, pyproject.toml:3\n' in shown(run)[1]


def test_shown_settings_are_those_of_the_first_file(run: Run) -> None:
    run.write("inner/gradlint.toml", "keras = 2\n")
    run.write("inner/a.py", CLEAN)
    run.write("z.py", CLEAN)

    assert shown(run)[0]["keras"] == 2
    assert shown(run, "z.py")[0]["keras"] == 3
    assert run("check", "--show-settings", "nowhere.py").exit_code == 2


@pytest.mark.parametrize("is_repository", [True, False])
def test_what_git_ignores_is_passed_over_when_excludes_are_forced(run: Run, is_repository: bool) -> None:
    if is_repository:
        run.write(".git/info/exclude", "local.py\n")
    run.write("gradlint.toml", "")
    run.write(".gitignore", "gen/\n*_pb2.py\n" if is_repository else "gen/\n*_pb2.py\nlocal.py\n")
    run.write("inner/.gitignore", "!kept_pb2.py\nskipped.py\n")
    named = ["gen/deep/a.py", "b_pb2.py", "c.py", "local.py"]
    named += ["inner/kept_pb2.py", "inner/other_pb2.py", "inner/skipped.py"]
    for name in named:
        run.write(name, FAULTY)

    assert [name for name, _ in checked(run, *named)] == sorted(named)
    assert [name for name, _ in checked(run, "--force-exclude", *named)] == ["c.py", "inner/kept_pb2.py"]
    assert [name for name, _ in checked(run, "--force-exclude", "gen/deep", "inner")] == ["inner/kept_pb2.py"]
    standard_input = ["check", "--force-exclude", "--stdin-filename", "gen/new.py", "-"]
    assert run(*standard_input, stdin=FAULTY.encode()).exit_code == 0


def test_shown_settings_can_be_read_again(run: Run) -> None:
    run.write("gradlint.toml", 'select = ["GL1"]\nexclude = ["old/"]\n[severity]\nGL101 = "info"\n')
    run.write("a.py", FAULTY)
    _, text = shown(run)

    run.write("gradlint.toml", text)

    assert shown(run)[0] | {"src": ["."]} == tomllib.loads(text)


def test_shown_patterns_of_an_extended_file_mean_the_same_when_they_are_read_again(run: Run) -> None:
    ignores = '[per-file-ignores]\n"c.py" = ["GL101"]\n"!in/" = ["GL4"]\n'
    run.write("base/gradlint.toml", f'exclude = ["old/", "/inner/d.py"]\n{ignores}')
    run.write("proj/gradlint.toml", 'extend = "../base/gradlint.toml"\n[per-file-ignores]\n"c.py" = ["GL102"]\n')
    run.write("proj/c.py", FAULTY)
    table, text = shown(run, "proj")

    assert table["exclude"] == ["../base/**/old/", "../base/inner/d.py"]
    assert table["per-file-ignores"] == {
        "../base/**/c.py": ["GL101"],
        "!../base/**/in/": ["GL4"],
        "c.py": ["GL102"],
    }
    assert checked(run) == [("proj/c.py", "GL101")]

    run.write("proj/gradlint.toml", text.replace('extend = "', '# extend = "'))

    assert checked(run) == [("proj/c.py", "GL101")]
    assert shown(run, "proj")[0]["per-file-ignores"] == table["per-file-ignores"]


def test_files_are_shown_that_would_be_judged(run: Run) -> None:
    run.write("gradlint.toml", 'exclude = ["old/"]\n')
    for name in ("b.py", "a/c.ipynb", "old/d.py", "notes.txt"):
        run.write(name, BROKEN)

    result = run("check", "--show-files")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "a/c.ipynb\nb.py\n", "")
    missing = run("check", "--show-files", "b.py", "nowhere.py")
    assert (missing.exit_code, missing.stdout) == (2, "b.py\n")


def test_a_function_has_a_gradient_or_none(run: Run) -> None:
    run.write("gradlint.toml", 'nondifferentiable = [\n"a.f",\n"a.g",\n]\ndifferentiable = ["a.g"]\n')
    assert failed(run("check")) == 'gradlint.toml:3: nondifferentiable: "a.g" is in differentiable, too'

    run.write("gradlint.toml", 'extend = "base.toml"\ndifferentiable = ["a.f"]\n')
    run.write("base.toml", 'nondifferentiable = ["a.f"]\n')
    assert failed(run("check")) == 'gradlint.toml:2: differentiable: "a.f" is in nondifferentiable, too'
    nothing = ["--config", "nondifferentiable = []"]
    assert run("check", *nothing).exit_code == 0
    option = ["--config", 'nondifferentiable = ["a.f"]']
    assert failed(run("check", *option)) == '--config: nondifferentiable: "a.f" is in differentiable, too'
    with pytest.raises(RunError, match=r'nondifferentiable: "a\.f" is in differentiable'):
        Settings(differentiable=["a.f"], nondifferentiable=["a.f"])


# Faults of files


def test_a_fault_at_the_end_of_a_file_is_told_with_its_last_row(run: Run) -> None:
    run.write("gradlint.toml", "keras = 2\nkeras = 3")
    assert failed(run("check")) == "gradlint.toml:2: cannot overwrite a value"

    run.write("gradlint.toml", "keras = 2\nselect = [\n")
    assert failed(run("check")).startswith("gradlint.toml:2: ")


@pytest.mark.parametrize("name", ["gradlint.toml", "named.toml"])
def test_the_table_of_a_pyproject_in_another_file_is_told(run: Run, name: str) -> None:
    run.write(name, "\n[tool.gradlint]\nselect = ['GL1']\n")

    assert failed(run("check", *(["--config", name] if name == "named.toml" else []))) == (
        f"{name}:2: tool.gradlint: belongs into a pyproject.toml; here settings stand at the top level"
    )


def test_a_rule_of_ones_own_can_be_named_where_its_file_is_whatever_is_judged_before(run: Run) -> None:
    run("new-rule", "ACME001", "no-hidden-models", "--event", "ItemAssigned", "--path", "a")
    run.write("a/gradlint.toml", 'rules = ["no_hidden_models.py"]\nexclude = ["fixtures"]\n')
    run.write("b/gradlint.toml", 'select = ["ACME001", "GL"]\n')
    for order in (("a", "b"), ("b", "a"), ("b",)):
        told = failed(run("check", *order, "--allow-rules", "a"))
        assert told.startswith('b/gradlint.toml:1: select: no rule "ACME001"')

    run.write("b/gradlint.toml", "")
    run.write("b/c.py", "import tensorflow as tf\nx = 1  # gradlint: ignore[ACME001]\n")
    run.write("a/c.py", "import tensorflow as tf\nx = 1  # gradlint: ignore[ACME001]\n")
    for order in (("a/c.py", "b"), ("b", "a/c.py")):
        assert checked(run, *order, "--allow-rules", "a") == [("a/c.py", "GL003"), ("b/c.py", "GL004")]
    assert checked(run, "b") == [("b/c.py", "GL004")]
    assert checked(run, "b", "a", "--select", "ACME001") == checked(run, "a", "b", "--select", "ACME001") == []


# From Python


def test_settings_are_made_from_values_as_toml_would_hold_them(tmp_path: Path) -> None:
    settings = settings_from({"select": ["GL1"], "exclude": ["old/"], "src": ["lib"]}, tmp_path)

    assert (settings.select, settings.src) == (("GL1",), (str(tmp_path / "lib"),))
    with pytest.raises(RunError, match='settings: selct: no such setting; did you mean "select"'):
        settings_from({"selct": []})


def test_settings_of_a_hierarchy_are_one_value_for_all_files_of_a_configuration(run: Run) -> None:
    run.write("gradlint.toml", "")
    hierarchy = Hierarchy()

    assert hierarchy.for_file("a/b.py") is hierarchy.for_file(str(run.folder / "c.py"))
