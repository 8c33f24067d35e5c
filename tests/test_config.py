"""`[tool.gradlint]`: which file is read, what its keys mean, how a mistake in it is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradlint.config import Settings, load_settings
from gradlint.files.patterns import Pattern
from support import BROKEN, Run, codes, places

TWO_COMMENTS = "import keras\nx = 1  # gradlint: ignore[GL002]\ny = 2  # gradlint: ignore[GL0O2]\n"


def test_all_keys_are_read(run: Run) -> None:
    run.write(
        "pyproject.toml",
        """
[tool.gradlint]
select = ["GL0"]
ignore = ["unused-suppression"]
exclude = ["legacy/"]
src = ["src"]
keras = 2
differentiable = ["mylib.smooth"]
nondifferentiable = ["mylib.lookup"]
""",
    )

    assert load_settings() == Settings(
        root=run.folder,
        select=("GL0",),
        ignore=("unused-suppression",),
        exclude=(Pattern("legacy/", str(run.folder)),),
        src=(str(run.folder / "src"),),
        keras=2,
        differentiable=("mylib.smooth",),
        nondifferentiable=("mylib.lookup",),
    )


def test_without_a_file_every_rule_is_on(run: Run) -> None:
    run.write("a.py", TWO_COMMENTS)

    assert codes(run("check", "--output-format", "json").stdout) == ["GL003", "GL004"]


def test_ignore_of_the_file_and_of_the_command_line_add_up(run: Run) -> None:
    run.write("a.py", TWO_COMMENTS)
    run.write("pyproject.toml", '[tool.gradlint]\nignore = ["GL003"]\n')

    assert codes(run("check", "--output-format", "json").stdout) == ["GL004"]
    assert codes(run("check", "--output-format", "json", "--ignore", "GL004").stdout) == []


def test_select_of_the_command_line_replaces_both_lists_of_the_file(run: Run) -> None:
    run.write("a.py", TWO_COMMENTS)
    run.write("pyproject.toml", '[tool.gradlint]\nselect = ["GL004"]\nignore = ["GL003"]\n')

    assert codes(run("check", "--output-format", "json", "--select", "GL003").stdout) == ["GL003"]


def test_each_file_is_judged_under_the_settings_nearest_to_it(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nignore = ["ALL"]\n')
    run.write("inner/pyproject.toml", "[tool.gradlint]\n")
    run.write("inner/package/a.py", BROKEN)
    run.write("b.py", BROKEN)

    assert places(run("check", "inner/package", "--output-format", "json")) == [("inner/package/a.py", 2, "GL001")]
    assert places(run("check", "b.py", "inner", "--output-format", "json")) == [("inner/package/a.py", 2, "GL001")]


def test_a_file_without_the_table_is_passed_over_on_the_way_up(run: Run) -> None:
    run.write("pyproject.toml", "[tool.gradlint]\nkeras = 2\n")
    run.write("inner/pyproject.toml", "[project]\nname = 'inner'\n")

    assert load_settings(["inner"]).keras == 2


def test_a_path_elsewhere_is_judged_under_the_settings_of_the_working_folder(
    run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    run.write("pyproject.toml", "[tool.gradlint]\nkeras = 2\n")

    assert load_settings([str(elsewhere)]).keras == 2


def test_exclude_is_seen_from_the_folder_of_the_file(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nexclude = ["/package/old", "*_gen.py"]\n')
    for name in ("package/old/a.py", "package/new/b.py", "package/new/old/c.py", "package/d_gen.py"):
        run.write(name, BROKEN)

    found = places(run("check", "package", "--output-format", "json"))

    assert [name for name, _, _ in found] == ["package/new/b.py", "package/new/old/c.py"]


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (
            'select = [\n  "GL003",\n  "GL0004",\n]',
            '4: select: no rule "GL0004"; did you mean "GL004" (invalid-suppression)?',
        ),
        ('ignore = ["sintax-error"]', '2: ignore: no rule "sintax-error"; did you mean "syntax-error" (GL001)?'),
        ('\nselct = ["GL0"]', '3: selct: no such setting; did you mean "select"?'),
        ("colour = 1", "2: colour: no such setting"),
        ('select = "GL0"', "2: select: expected a list of strings, got 'GL0'"),
        ("exclude = [\n'a',\n7]", "4: exclude: expected a string, got 7"),
        ("keras = 4", "2: keras: expected 2 or 3, got 4"),
        ("keras = [", "2: invalid value"),
        ("keras = true", "2: keras: expected 2 or 3, got true"),
        ("keras = 3.5", "2: keras: expected 2 or 3, got 3.5"),
        ('keras = "3"', "2: keras: expected 2 or 3, got '3'"),
        ("per_file_ignores = {}", '2: per_file_ignores: no such setting; did you mean "per-file-ignores"?'),
        ("per-file-ignores = 3", "2: per-file-ignores: expected a table of patterns and lists of rules, got 3"),
        (
            '[tool.gradlint.per-file-ignores]\n"a/*" = ["GL1"]\n"b/*" = [\n  "GL1",\n  "GL1O1"]',
            '6: per-file-ignores."b/*": no rule "GL1O1"; did you mean "GL101" (forward-outside-tape)?',
        ),
        (
            'per-file-ignores = { "a/*" = "GL1" }',
            "2: per-file-ignores.\"a/*\": expected a list of strings, got 'GL1'",
        ),
        (
            '[tool.gradlint.severity]\nGL1 = "error"\nGL9 = "error"',
            '4: severity.GL9: no rule "GL9"; codes begin with GL0, GL1, GL2, GL3, GL4, GL5, GL6, GL7',
        ),
        (
            'severity.GL101 = "warn"',
            '2: severity.GL101: expected "error", "warning" or "info", got \'warn\'; did you mean "warning"?',
        ),
        ('severity = { GL101 = "off" }', '2: severity.GL101: "off" is no severity; put the rule into `ignore`'),
        ('fail-level = "fatal"', '2: fail-level: expected "error", "warning" or "info", got \'fatal\''),
        ('include-docs = "yes"', "2: include-docs: expected true or false, got 'yes'"),
        ("cache-dir = 7", "2: cache-dir: expected a path, got 7"),
        ('src = [""]', "2: src: expected a path, got ''"),
        ('exclude = ["a/", "!"]', "2: exclude: a pattern is empty"),
        (
            'differentiable = ["my lib"]',
            "2: differentiable: expected a dotted name such as \"mylib.ops.lookup\", got 'my lib'",
        ),
        ('x = """\nselect = 1\n"""\n', "2: x: no such setting"),
        ("[[tool.gradlint.rules]]", "2: rules: expected a string, got a table"),
    ],
)
def test_a_mistake_is_told_with_its_line(run: Run, table: str, complaint: str) -> None:
    run.write("pyproject.toml", f"[tool.gradlint]\n{table}\n")

    result = run("check")

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: pyproject.toml:{complaint}\n")


NOISE = [
    "# [tool.gradlint]",
    "[tool.other]\nkeras = 9",
    '[tool.other]\ntext = """\n[tool.gradlint]\nkeras = 9\n\\"""\n"""',
    "[tool.other]\ntext = '''\nkeras = 9 # '''",
    '[[tool.list]]\nitems = [ # [\n  "]", {keras = 9, "a]b" = ["{"]},\n  1979-05-27T07:32:00Z,\n]',
    '[tool."gradlint.x"]\nkeras = 9',
    '[tool.other]\n\'a\' . "b\\"c" = 1e3\nkeras.x = true',
]
VALID = [
    "# keras = 9",
    'select = [\n  "GL1", # keras = 9\n]',
    'per-file-ignores = { "keras = 9" = ["GL1"], "b" = [] }',
    'cache-dir = "keras = 9"',
    "severity.GL1 = 'info'",
    "",
]


@given(
    before=st.lists(st.sampled_from(NOISE), unique=True),
    within=st.lists(st.sampled_from(VALID), unique=True),
    after=st.lists(st.sampled_from(VALID[:1]), max_size=2),
    header=st.sampled_from(["[tool.gradlint]", "[ tool . 'gradlint' ]", '["tool".gradlint] # settings']),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_line_of_a_mistake_is_right_whatever_stands_around_it(
    run: Run, before: list[str], within: list[str], after: list[str], header: str, line_end: str
) -> None:
    others = [part if part.startswith(("#", "[[")) else part.replace("other", f"o{n}") for n, part in enumerate(before)]
    above = "\n".join([*others, header, *within])
    text = "\n".join([above, "keras = 9", *after])
    run.write("pyproject.toml", text.replace("\n", line_end))

    row = above.count("\n") + 2
    assert run("check").stderr == f"gradlint: pyproject.toml:{row}: keras: expected 2 or 3, got 9\n"


def test_a_broken_file_that_does_not_mention_gradlint_is_not_our_business(run: Run) -> None:
    run.write("pyproject.toml", "[project\n")
    run.write("a.py", BROKEN)

    assert codes(run("check", "--output-format", "json").stdout) == ["GL001"]


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("[tool]\ngradlint = 3\n", "pyproject.toml:2: `tool.gradlint` must be a table"),
        ("[tool.gradlint]\nkeras = 2\nkeras = 3\n", "pyproject.toml:3: cannot overwrite a value"),
        (b"[tool.gradlint]\n# caf\xe9\n", "pyproject.toml:2: not UTF-8"),
    ],
)
def test_a_file_that_holds_no_settings_is_told_with_its_line(run: Run, written: str | bytes, complaint: str) -> None:
    run.write("pyproject.toml", written)

    result = run("check")

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: {complaint}\n")


def test_a_file_with_a_byte_order_mark_and_other_line_ends_is_read(run: Run) -> None:
    run.write("gradlint.toml", b"\xef\xbb\xbfkeras = 2\r\nselect = [\r\n  'GL1O1',\r\n]\r\n")

    assert run("check").stderr.startswith("gradlint: gradlint.toml:3: select: no rule")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that exists and cannot be read")
def test_a_file_that_cannot_be_read_ends_the_run(run: Run) -> None:
    result = run("check", "--config", "/proc/self/mem")

    assert (result.exit_code, result.stderr) == (2, "gradlint: /proc/self/mem: input/output error\n")


@pytest.mark.parametrize("depth", [1, 200, 100_000])
def test_deep_nesting_is_told_in_one_line(run: Run, depth: int) -> None:
    run.write("gradlint.toml", f"\nexclude = {'[' * depth}'a', 7{']' * depth}\n")

    result = run("check")

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("gradlint: gradlint.toml:")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_file_that_may_not_be_read_ends_the_run(run: Run) -> None:
    run.write("gradlint.toml").chmod(0)

    assert run("check").stderr == "gradlint: gradlint.toml: permission denied\n"


def test_a_dotted_table_is_found(run: Run) -> None:
    run.write("pyproject.toml", "[tool]\ngradlint.keras = 5\n")

    assert run("check").stderr == "gradlint: pyproject.toml:2: keras: expected 2 or 3, got 5\n"


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        Settings().keras = 2  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("a.local", [11, 15]),
        ("a.in_graph", [7, 15]),
        ("a.Ops.smooth", [7, 11]),
        ("local", [7, 11, 15]),
        ("b.local", [7, 11, 15]),
    ],
)
def test_functions_of_the_judged_file_are_trusted_by_their_full_names(run: Run, name: str, found: list[int]) -> None:
    run.write(
        "a.py",
        """import tensorflow as tf

w = tf.Variable(1.0)


def local(x):
    return tf.round(x)

@tf.function
def in_graph(x):
    return tf.round(x)

class Ops:
    def smooth(self, x):
        return tf.round(x)

with tf.GradientTape(persistent=True) as tape:
    one, two, three = local(w), in_graph(w), Ops().smooth(w)
print(tape.gradient(one, w), tape.gradient(two, w), tape.gradient(three, w))
""",
    )

    result = run("check", "--output-format", "json", "--config", f"differentiable = ['{name}']")

    assert [row for _, row, _ in places(result)] == found


def test_a_function_of_the_judged_file_that_no_gradient_flows_through_is_believed(run: Run) -> None:
    run.write(
        "a.py",
        """import tensorflow as tf

def lookup(x):
    return x * 2.0

w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = lookup(w)
print(tape.gradient(y, w))
""",
    )

    assert run("check").exit_code == 0
    result = run("check", "--output-format", "json", "--config", "nondifferentiable = ['a.lookup']")
    assert places(result) == [("a.py", 8, "GL202")]
