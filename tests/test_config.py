"""`[tool.gradlint]`: which file is read, what its keys mean, how a mistake in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradlint.config import Settings, load_settings
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
        exclude=("legacy/",),
        src=("src",),
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


def test_the_project_of_the_first_path_decides(run: Run) -> None:
    run.write("pyproject.toml", '[tool.gradlint]\nignore = ["ALL"]\n')
    run.write("inner/pyproject.toml", "[tool.gradlint]\n")
    run.write("inner/package/a.py", BROKEN)
    run.write("b.py", BROKEN)

    assert places(run("check", "inner/package", "--output-format", "json")) == [("inner/package/a.py", 2, "GL001")]
    assert places(run("check", "b.py", "inner", "--output-format", "json")) == []


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
    ],
)
def test_a_mistake_is_told_with_its_line(run: Run, table: str, complaint: str) -> None:
    run.write("pyproject.toml", f"[tool.gradlint]\n{table}\n")

    result = run("check")

    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"gradlint: pyproject.toml:{complaint}\n")


def test_a_broken_file_that_does_not_mention_gradlint_is_not_our_business(run: Run) -> None:
    run.write("pyproject.toml", "[project\n")
    run.write("a.py", BROKEN)

    assert codes(run("check", "--output-format", "json").stdout) == ["GL001"]


def test_a_dotted_table_is_found(run: Run) -> None:
    run.write("pyproject.toml", "[tool]\ngradlint.keras = 5\n")

    assert run("check").stderr == "gradlint: pyproject.toml:2: keras: expected 2 or 3, got 5\n"


def test_settings_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(AttributeError):
        Settings().keras = 2  # type: ignore[misc]
