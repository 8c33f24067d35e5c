"""Which files a run judges."""

from __future__ import annotations

import os
import shutil
import subprocess
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support import BROKEN, Run, places


def judged(run: Run, *paths: str) -> list[str]:
    """The files that a run says something about, when there is something to say about every file."""
    return [name for name, _, _ in places(run("check", *paths, "--output-format", "json"))]


def write_all(run: Run, *names: str) -> None:
    for name in names:
        run.write(name, BROKEN)


def test_folders_are_walked_for_python_files_in_a_stable_order(run: Run) -> None:
    write_all(run, "b.py", "a/z.py", "a/b/c.py", "a.py", "notes.txt", "script")

    assert judged(run) == ["a.py", "a/b/c.py", "a/z.py", "b.py"]


def test_environments_builds_and_hidden_folders_are_left_out(run: Run) -> None:
    for folder in (".venv", "venv", "build", "dist", "site-packages", "node_modules", "__pycache__", ".hidden"):
        write_all(run, f"{folder}/a.py", f"package/{folder}/a.py")
    write_all(run, "package/builder.py")

    assert judged(run) == ["package/builder.py"]


def test_a_folder_that_is_named_is_judged_even_if_it_would_be_left_out(run: Run) -> None:
    write_all(run, "build/a.py", ".hidden/b.py")

    assert judged(run, "build", ".hidden") == [".hidden/b.py", "build/a.py"]


def test_a_file_is_judged_once_however_often_it_is_named(run: Run) -> None:
    write_all(run, "a/b.py")

    assert judged(run, "a", "a/b.py", "./a/../a/b.py", str(run.folder / "a")) == ["a/b.py"]


def test_a_named_file_needs_no_ending(run: Run) -> None:
    write_all(run, "script")

    assert judged(run, "script") == ["script"]


def test_gitignore_is_honoured_down_the_tree(run: Run) -> None:
    run.write(".gitignore", "*_gen.py\n/scratch/\nkept_*.py\n")
    run.write("package/.gitignore", "local.py\n!kept_*.py\n")
    write_all(run, "a_gen.py", "package/b_gen.py", "scratch/c.py", "package/scratch/d.py")
    write_all(run, "package/local.py", "local.py", "package/kept_1.py", "kept_2.py")

    assert judged(run) == ["local.py", "package/kept_1.py", "package/scratch/d.py"]


def test_the_gitignore_of_the_repository_counts_in_its_folders(run: Run) -> None:
    (run.folder / ".git").mkdir()
    run.write(".gitignore", "*_gen.py\n")
    write_all(run, "package/a_gen.py", "package/b.py")

    assert judged(run, "package") == ["package/b.py"]


@pytest.fixture
def home(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user whose git is not configured, beside a repository in the working folder."""
    home = run.folder / ".home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (run.folder / ".git").mkdir()
    return home


def test_what_git_ignores_beside_its_gitignore_files_is_left_out(run: Run, home: Path) -> None:
    write_all(run, "a.py", "b.py", "package/a.py", "package/b.py")
    run.write(".git/info/exclude", "/a.py\nb.py\n")

    assert judged(run) == judged(run, ".") == ["package/a.py"]
    assert judged(run, "package") == ["package/a.py"]

    run.write(".gitignore", "!/b.py\n")  # said nearer
    assert judged(run) == ["b.py", "package/a.py"]


@pytest.mark.parametrize(
    ("file", "config", "named"),
    [
        (".home/.config/git/ignore", "", ""),
        (".home/mine", ".home/.gitconfig", "~/mine"),
        (".home/mine", ".home/.config/git/config", "~/mine"),
        (".home/mine", ".git/config", '"~/mine"'),
    ],
)
def test_what_the_user_ignores_in_all_repositories_is_left_out(
    run: Run, home: Path, file: str, config: str, named: str
) -> None:
    write_all(run, "a.py", "b.py")
    run.write(file, "a.py\n")
    if config:
        run.write(config, f"[user]\n\tname = x\n[core]\n\tbare = false\n\texcludesFile = {named}\n")

    assert judged(run) == ["b.py"]

    (run.folder / ".git").rename(run.folder / ".other")  # no repository
    assert judged(run) == ["a.py", "b.py"]


def test_a_worktree_ignores_what_its_repository_does(run: Run, home: Path) -> None:
    run.write(".git/info/exclude", "a.py\n")
    run.write(".git/worktrees/tree/commondir", "../..\n")
    run.write("tree/.git", f"gitdir: {run.folder}/.git/worktrees/tree\n")
    write_all(run, "tree/a.py", "tree/b.py")

    assert judged(run, "tree") == ["tree/b.py"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\\\n!\n[z-a]\na.py\n", ["b.py"]),  # git passes over the lines that are no patterns
        ("\ufeffa.py\n", ["b.py"]),
        ("a.py\r\nb.py\r\n", []),
        ("a.py\t\nb.py  \n", ["a.py"]),
        ("a.py\x0cb.py\n", ["a.py", "b.py"]),
    ],
)
def test_a_gitignore_is_read_as_git_reads_it(run: Run, text: str, left: list[str]) -> None:
    write_all(run, "a.py", "b.py")
    run.write(".gitignore", text)

    assert judged(run) == left


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        ("*\n!*/\n!*.py\n", ["a.py", "src/gen/a.py", "src/keep.py"]),
        ("*\n!*/\n!**/*.py\n", ["a.py", "src/gen/a.py", "src/keep.py"]),
        ("*\n!src/\n!src/keep.py\n", ["src/keep.py"]),
        ("gen/\n!/src/\n", ["a.py", "src/keep.py"]),
        ("src/**\n!src/keep.py\n", ["a.py", "src/keep.py"]),
    ],
)
def test_a_pattern_for_a_folder_does_not_answer_for_what_it_holds(run: Run, lines: str, left: list[str]) -> None:
    (run.folder / ".git").mkdir()
    write_all(run, "a.py", "src/keep.py", "src/gen/a.py", "src/notes.ipynb")

    excluded = ["--exclude", ",".join([*lines.split(), "*.ipynb"])]
    assert judged(run, *excluded) == left

    run.write(".gitignore", f"{lines}*.ipynb\n")
    assert judged(run) == left


def test_where_a_run_is_started_does_not_change_what_patterns_leave_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.folder / ".git").mkdir()
    write_all(run, "src/a.py", "src/b.ipynb", "src/deep/a.py", "src/deep/b.ipynb")
    lines = ["*", "!*/", "!*.py"]

    run.write("gradlint.toml", f"exclude = {lines}\n")
    assert judged(run, "src") == judged(run) == ["src/a.py", "src/deep/a.py"]

    (run.folder / "gradlint.toml").unlink()
    run.write(".gitignore", "\n".join(lines))
    assert judged(run, "src") == judged(run) == ["src/a.py", "src/deep/a.py"]
    monkeypatch.chdir("src")
    assert judged(run) == ["a.py", "deep/a.py"]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of a few folders that hold the same names."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    for inner in ("", "a", "b", "a/b", "a/a", "b/a", "a/b/a", "b.py"):
        (folder / inner).mkdir(exist_ok=True)
        for name in ("a.py", "ab.py", "a b.py", "[a].py"):
            (folder / inner / name).touch()
    return folder


PARTS = [
    "a",
    "b",
    "*",
    "?",
    "**",
    "*.py",
    "a*",
    "a.py",
    "*a*b*",
    "[!a]",
    "[a-b]*",
    "[]a]*",
    "[[:alpha:]]",
    "\\[a].py",
    "a ",
]
PATTERN = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("/".join),
    st.sampled_from(["", "", "/"]),
)
LINES = st.builds(list.__add__, st.sampled_from([[], [], ["*", "!*/"]]), st.lists(PATTERN, max_size=4))


@given(LINES, LINES)
@settings(max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_git_ignores_and_nothing_else_is_left_out(
    repository: Path, run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, outer: list[str], inner: list[str]
) -> None:
    monkeypatch.chdir(repository)
    (repository / ".gitignore").write_text("\n".join(outer))
    (repository / "a" / ".gitignore").write_text("\n".join(inner))
    listed = subprocess.run(
        ["git", "ls-files", "-oz", "--exclude-standard"], capture_output=True, text=True, check=True
    )

    shown = run("check", "--show-files", "--isolated").stdout.splitlines()

    assert shown == sorted(name for name in listed.stdout.split("\0") if name.endswith(".py"))


NAMES = [f"{''.join(letters)}.py" for length in range(1, 5) for letters in product("ab", repeat=length)]


@given(st.text("ab*?", min_size=1, max_size=7))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_stars_of_patterns_match_as_in_a_shell(run: Run, pattern: str) -> None:
    for name in NAMES:
        run.write(name)

    shown = run("check", "--show-files", "--exclude", f"{pattern}.py").stdout.split()

    assert shown == sorted(name for name in NAMES if not fnmatchcase(name, f"{pattern}.py"))


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("a/**/b/**/c.py", ["a/b/c.py", "a/b/x/c.py", "a/x/b/b/x/c.py"]),
        ("a/**/b*x*/**/c.py", ["a/bxx/c.py"]),
        ("**/b/**/*c*.py", ["a/b/c.py", "a/b/x/c.py", "a/x/b/b/x/c.py"]),
        ("a/**/[!b]/**/c.py", ["a/b/x/c.py", "a/x/b/b/x/c.py", "a/x/c.py"]),
    ],
)
def test_stars_of_patterns_match_folders(run: Run, pattern: str, matched: list[str]) -> None:
    names = ["a/b/c.py", "a/b/x/c.py", "a/bxx/c.py", "a/c.py", "a/x/b/b/x/c.py", "a/x/c.py"]
    for name in names:
        run.write(name)

    shown = run("check", "--show-files", "--exclude", pattern).stdout.split()

    assert shown == [name for name in names if name not in matched]


def test_a_name_that_nearly_matches_many_stars_does_not_hold_up_the_run(run: Run) -> None:
    name = f"{'a/' * 40}{'a' * 46}.py"
    run.write(name, BROKEN)
    run.write(".gitignore", f"{'*a' * 20}*b\n{'a/**/' * 20}b\n")

    assert judged(run, "--exclude", f"{'*a' * 20}*b", "--per-file-ignores", f"{'**/a*a/' * 9}b:GL001") == [name]


def test_a_file_or_folder_that_git_ignores_is_judged_when_it_is_named(run: Run) -> None:
    (run.folder / ".git").mkdir()
    run.write(".gitignore", "scratch/\na.py\n")
    write_all(run, "scratch/b.py", "a.py")

    assert judged(run, "scratch", "a.py") == ["a.py", "scratch/b.py"]


def test_a_folder_named_like_a_file_is_a_folder(run: Run) -> None:
    write_all(run, "x.py/inner.py")

    assert judged(run) == ["x.py/inner.py"]
    assert judged(run, "x.py") == ["x.py/inner.py"]


def test_a_broken_link_is_reported_where_the_walk_meets_it(run: Run) -> None:
    (run.folder / "gone.py").symlink_to("nowhere.py")
    (run.folder / ".#lock.py").symlink_to("user@host")  # what Emacs leaves beside a file that is being changed

    result = run("check", "--output-format", "concise")

    assert result.exit_code == 1
    assert result.stdout.startswith("gone.py:1:1: error GL002 unreadable-file: broken symbolic link\n")


def test_a_broken_link_that_is_named_fails_the_run(run: Run) -> None:
    (run.folder / "gone.py").symlink_to("nowhere.py")

    result = run("check", "gone.py")

    assert (result.exit_code, result.stderr) == (2, "gradlint: gone.py: broken symbolic link\n")


def test_loops_of_links_end(run: Run) -> None:
    write_all(run, "package/a.py")
    (run.folder / "package" / "self").symlink_to("..", target_is_directory=True)
    (run.folder / "loop.py").symlink_to("loop.py")

    assert judged(run) == ["loop.py", "package/a.py"]


def test_a_linked_folder_is_walked_when_it_is_named(run: Run) -> None:
    write_all(run, "real/a.py")
    (run.folder / "link").symlink_to("real", target_is_directory=True)

    assert judged(run, "link") == ["link/a.py"]


def test_a_path_that_cannot_exist_is_missing(run: Run) -> None:
    result = run("check", "a\0b", "x" * 5000)

    assert result.exit_code == 2
    assert "gradlint: a\\x00b: not a path\n" in result.stderr
    assert "file name too long" in result.stderr


def test_pipes_are_not_read_in_a_walk(run: Run) -> None:
    os.mkfifo(run.folder / "pipe.py")
    write_all(run, "a.py")

    assert judged(run) == ["a.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_what_may_not_be_read_is_reported_and_the_rest_judged(run: Run) -> None:
    write_all(run, "a.py", "closed.py", "folder/b.py")
    (run.folder / "closed.py").chmod(0)
    (run.folder / "folder").chmod(0)
    try:
        found = places(run("check", "--output-format", "json"))
    finally:
        (run.folder / "folder").chmod(0o755)

    assert found == [("a.py", 2, "GL001"), ("closed.py", 1, "GL002"), ("folder", 1, "GL002")]


def test_a_file_that_may_not_be_read_is_reported_and_the_rest_judged(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(run, "a.py", "closed.py")

    def open_unless_closed(path: str, *arguments: object, **options: object) -> object:
        if Path(path).name == "closed.py":
            raise PermissionError(13, "Permission denied")
        return open(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr("gradlint.engine.open", open_unless_closed, raising=False)

    assert places(run("check", "--output-format", "json")) == [("a.py", 2, "GL001"), ("closed.py", 1, "GL002")]
