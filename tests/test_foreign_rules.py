"""Rule files that are not the user's own: what a folder brings along is judged, and never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradlint import check_paths, load_settings
from support import CLEAN, FAULTY, Outcome, Run, codes, run_process
from test_own_rules import RULE

JSON = ("--output-format", "json")
TOLD = (
    "gradlint: vendor/lib/pyproject.toml:3: rules: not run: these are not the settings of the working folder; "
    "--allow-rules vendor/lib/pyproject.toml runs them\n"
)
#: Leaves a mark when it is run.
MARKING = f"{RULE}\nopen(__file__ + '.ran', 'w').close()\n"


@pytest.fixture
def tree(run: Run) -> Run:
    """A project with a folder of somebody else, whose settings name a rule file."""
    run.write("gradlint.toml", "keras = 3\n")
    run.write("vendor/lib/pyproject.toml", '[tool.gradlint]\nkeras = 3\nrules = ["acme.py"]\n')
    run.write("vendor/lib/acme.py", MARKING)
    run.write("vendor/lib/train.py", CLEAN)
    return run


def was_run(tree: Run) -> bool:
    return (tree.folder / "vendor/lib/acme.py.ran").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "vendor/lib"),
        ("check", "vendor/lib/train.py", "--jobs", "2"),
        ("check", "-", "--stdin-filename", "vendor/lib/train.py"),
        ("check", "--show-files"),
        ("check", "--show-settings", "vendor/lib"),
        ("flow", "vendor/lib/train.py"),
    ],
    ids=" ".join,
)
def test_rule_files_of_a_deeper_folder_are_not_run(tree: Run, arguments: tuple[str, ...]) -> None:
    result = tree(*arguments, stdin=CLEAN.encode())

    assert (result.exit_code, result.stderr, was_run(tree)) == (0, TOLD, False)


@pytest.mark.parametrize("allowed", ["vendor/lib/acme.py", "vendor/lib/pyproject.toml", "vendor/lib", "."])
def test_they_are_run_when_the_command_line_allows_them(tree: Run, allowed: str) -> None:
    result = tree("check", "--allow-rules", "gradlint.toml", "--allow-rules", allowed, *JSON)

    assert (codes(result.stdout), result.stderr, was_run(tree)) == (["ACME001"], "", True)
    assert tree("flow", "vendor/lib/train.py", "--allow-rules", allowed).stderr == ""


def test_to_allow_one_says_nothing_about_another(tree: Run) -> None:
    tree.write("vendor/lib/pyproject.toml", '[tool.gradlint]\nkeras = 3\nrules = ["acme.py", "other.py"]\n')
    tree.write("vendor/lib/other.py", MARKING.replace("ACME001", "ACME002").replace("gradient-asked", "other"))

    result = tree("check", "--allow-rules", "vendor/lib/acme.py", *JSON)

    assert (codes(result.stdout), result.stderr) == (["ACME001"], TOLD)
    assert not (tree.folder / "vendor/lib/other.py.ran").exists()


def test_what_is_allowed_has_to_be_there(tree: Run) -> None:
    result = tree("check", "--allow-rules", "vendor/nothing")

    assert (result.exit_code, result.stderr) == (2, "gradlint: --allow-rules: vendor/nothing: no such file or folder\n")


def test_those_of_the_working_folder_and_above_are_run(tree: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("vendor/lib/deep/train.py", CLEAN)
    for folder in ("vendor/lib", "vendor/lib/deep"):
        monkeypatch.chdir(tree.folder / folder)
        result = tree("check", "train.py", *JSON)
        assert (codes(result.stdout), result.stderr) == (["ACME001"], "")


def test_what_the_user_names_is_trusted_with_what_it_extends(tree: Run) -> None:
    tree.write("gradlint.toml", 'extend = "vendor/lib/pyproject.toml"\n')
    tree.write("train.py", CLEAN)

    assert codes(tree("check", "train.py", *JSON).stdout) == ["ACME001"]

    tree.write("gradlint.toml", "")
    assert codes(tree("check", "train.py", "--config", "vendor/lib/pyproject.toml", *JSON).stdout) == ["ACME001"]


def test_a_deeper_file_may_extend_the_outer_one_and_nothing_else(tree: Run) -> None:
    tree.write("gradlint.toml", 'rules = ["tools/acme.py"]\n')
    tree.write("tools/acme.py", RULE)
    tree.write("vendor/lib/pyproject.toml", '[tool.gradlint]\nextend = "../../gradlint.toml"\n')
    assert codes(tree("check", *JSON).stdout) == ["ACME001"]

    tree.write("vendor/lib/pyproject.toml", '[tool.gradlint]\nextend = "../more.toml"\n')
    tree.write("vendor/more.toml", 'rules = ["lib/acme.py"]\n')
    result = tree("check", *JSON)
    assert (codes(result.stdout), was_run(tree)) == ([], False)
    assert result.stderr.startswith("gradlint: vendor/more.toml:1: rules: not run: ")


def test_a_link_to_the_outer_settings_does_not_make_them_name_other_files(tree: Run) -> None:
    tree.write("gradlint.toml", 'rules = ["acme.py"]\n')
    tree.write("acme.py", RULE)
    (tree.folder / "vendor/lib/pyproject.toml").unlink()
    (tree.folder / "vendor/lib/gradlint.toml").symlink_to("../../gradlint.toml")

    result = tree("check", *JSON)

    assert (codes(result.stdout), was_run(tree)) == ([], False)
    assert "vendor/lib/gradlint.toml:1: rules: not run" in result.stderr


def test_selecting_a_rule_that_is_not_run_is_no_silence(tree: Run) -> None:
    settings = '[tool.gradlint]\nkeras = 3\nrules = ["acme.py"]\n'
    tree.write("vendor/lib/pyproject.toml", settings + 'ignore = ["ACME001"]\n')
    assert tree("check").exit_code == 0

    tree.write("vendor/lib/pyproject.toml", settings + 'select = ["ACME001"]\n')
    result = tree("check")
    assert result.exit_code == 2
    assert result.stderr == TOLD + 'gradlint: vendor/lib/pyproject.toml:4: select: no rule "ACME001"\n'


def test_functions_warn_and_take_what_is_allowed(tree: Run) -> None:
    with pytest.warns(UserWarning, match="pyproject.toml:3: rules: not run"):
        assert check_paths("vendor/lib") == ()

    settings = load_settings("vendor/lib", allow_rules="vendor/lib")
    assert [finding.code for finding in check_paths("vendor/lib/train.py", settings=settings)] == ["ACME001"]


# A run that ends early


def ended(folder: Path, rule: str, *arguments: str) -> Outcome:
    """A run in a process of its own, with a rule of the working folder."""
    run = Run(folder)
    run.write("gradlint.toml", 'rules = ["acme.py"]\nexclude = ["acme.py"]\n')
    run.write("acme.py", rule)
    for name in ("a.py", "b.py", "c.py"):
        run.write(name, CLEAN)
    return run_process("check", *arguments, folder=folder)


def inside(code: str) -> str:
    return RULE.replace("    return Finding", f"    {code}\n    return Finding")


@pytest.mark.parametrize("code", ["import os; os._exit(0)", "import posix; posix._exit(0)", "import sys; sys.exit(0)"])
@pytest.mark.parametrize("arguments", [("--jobs", "1"), ("--jobs", "2"), ("--show-files",), ("--exit-zero",)])
def test_a_rule_file_that_ends_the_run_fails_it(tmp_path: Path, code: str, arguments: tuple[str, ...]) -> None:
    result = ended(tmp_path, RULE + code + "\n", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("gradlint: acme.py:14: SystemExit")


@pytest.mark.parametrize(
    "code", ["import os; os._exit(0)", "raise SystemExit(0)", "import os; os.execv('/bin/true', ['x'])"]
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_rule_that_ends_the_run_is_a_finding_in_each_file(tmp_path: Path, code: str, jobs: str) -> None:
    result = ended(tmp_path, inside(code), "--jobs", jobs, *JSON)

    assert (result.exit_code, codes(result.stdout)) == (1, ["GL009"] * 3)


def test_what_a_rule_file_leaves_for_the_end_does_not_make_it_a_success(tmp_path: Path) -> None:
    late = f"{RULE}import atexit, os\natexit.register(os._exit, 0)\n"

    assert ended(tmp_path, late, "--ignore", "ACME").exit_code == 2


@pytest.mark.parametrize("option", [(), ("--exit-zero",), ("--ignore", "GL009")])
def test_a_process_that_dies_fails_the_run(tmp_path: Path, option: tuple[str, ...]) -> None:
    dying = inside("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")

    result = ended(tmp_path, dying, "--jobs", "2", *option)

    assert result.exit_code == 2
    assert result.stderr == "".join(
        f"gradlint: {name}: the process that judged it ended early\n" for name in ("a.py", "b.py", "c.py")
    )


# Links that leave the tree


@pytest.mark.parametrize("paths", [(), ("link.py",), ("folder",), ("folder/train.py",)], ids=" ".join)
def test_add_ignore_never_writes_through_a_link_that_leaves_the_tree(
    run: Run, tmp_path_factory: pytest.TempPathFactory, paths: tuple[str, ...]
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "train.py"
    outside.write_text(FAULTY)
    (run.folder / "link.py").symlink_to(outside)
    (run.folder / "folder").symlink_to(outside.parent)

    result = run("check", *paths, "--add-ignore")

    name = paths[0] if paths and paths[0].endswith(".py") else "folder/train.py" if paths else "link.py"
    assert result.exit_code == 2
    assert result.stderr == (
        f"gradlint: {name}: is a link that leads out of the tree, and was left alone\n"
        "gradlint: added 0 suppressions to 0 files\n"
    )
    assert outside.read_text() == FAULTY


def test_a_folder_that_was_named_is_the_tree(run: Run) -> None:
    run.write("outer.py", FAULTY)
    run.write("inner/own.py", FAULTY)
    (run.folder / "inner/link.py").symlink_to("../outer.py")

    result = run("check", "inner", "--add-ignore")

    assert "inner/link.py: is a link that leads out of the tree" in result.stderr
    assert (run.folder / "outer.py").read_text() == FAULTY
    assert "ignore[GL101]" in (run.folder / "inner/own.py").read_text()
    assert run("check", "inner", "outer.py", "--add-ignore").exit_code == 0  # it is named itself as well
