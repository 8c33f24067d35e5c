"""Rules of one's own: from rule files and from installed packages, known wherever rules are named."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from gradlint import RunError, Settings, check_paths, check_source
from gradlint.events import EVENTS
from gradlint.rule import rules_of_gradlint
from support import CLEAN, FAULTY, ROOT, Run, codes, places, run_process

RULE = '''\
"""A gradient is asked.

## What it does
Finds every gradient call.
"""

from gradlint.events import GradientDecision
from gradlint.rule import Finding, Severity, rule


@rule("ACME001", "gradient-asked", Severity.WARNING, since="1.0")
def gradient_asked(decision: GradientDecision) -> Finding:
    return Finding(decision.place, f"{decision.asked} of `{decision.target}`")
'''
FOUND = [("train.py", 5, "ACME001")]


@pytest.fixture
def project(run: Run) -> Run:
    """A project with a rule of its own, and a correct program."""
    run.write("pyproject.toml", '[tool.gradlint]\nrules = ["tools/acme.py"]\n')
    run.write("tools/acme.py", RULE)
    run.write("train.py", CLEAN)
    return run


def installed(folder: Path, modules: dict[str, str], entry: str = "acme_rules") -> str:
    """The path of a folder in which a package with an entry point is installed."""
    about = folder / "acme_gradlint-2.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-gradlint\nVersion: 2.1\n")
    (about / "entry_points.txt").write_text(f"[gradlint.rules]\nacme = {entry}\n")
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return f"{ROOT}:{folder}"


def test_a_rule_file_in_the_settings_is_applied(project: Run) -> None:
    result = project("check", "train.py", "--output-format", "json")

    assert (places(result), result.exit_code) == (FOUND, 1)
    (finding,) = result.findings
    assert (finding["name"], finding["severity"], finding["message"]) == (
        "gradient-asked",
        "warning",
        "gradient of `loss`",
    )


def test_a_rule_file_is_seen_from_the_folder_of_the_settings(project: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder / "tools")

    assert codes(project("check", "../train.py", "--output-format", "json").stdout) == ["ACME001"]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["--select", "ACME001"], ["ACME001"]),
        (["--select", "ACME"], ["ACME001"]),
        (["--select", "ACME0"], ["ACME001"]),
        (["--select", "gradient-asked"], ["ACME001"]),
        (["--select", "ALL"], ["ACME001"]),
        (["--select", "GL"], []),
        (["--ignore", "ACME"], []),
        (["--ignore", "ACME", "--select", "ACME001"], ["ACME001"]),
    ],
    ids=" ".join,
)
def test_selectors_know_it(project: Run, arguments: list[str], found: list[str]) -> None:
    assert codes(project("check", "train.py", "--output-format", "json", *arguments).stdout) == found


@pytest.mark.parametrize("word", ["AC", "A", "ACME2", "ACME0011", "gradient"])
def test_a_prefix_holds_all_letters_of_the_code(project: Run, word: str) -> None:
    result = project("check", "train.py", "--select", word)

    assert (result.exit_code, result.stderr.partition(";")[0].rstrip()) == (2, f'gradlint: --select: no rule "{word}"')


def test_selectors_in_the_settings_know_it(project: Run) -> None:
    project.write("pyproject.toml", '[tool.gradlint]\nignore = ["ACME001"]\nrules = ["tools/acme.py"]\n')

    assert project("check", "train.py").exit_code == 0


@pytest.mark.parametrize("comment", ["gradlint: ignore[ACME001]", "gradlint: ignore[gradient-asked]", "noqa: ACME001"])
def test_suppressions_know_it(project: Run, comment: str) -> None:
    project.write("train.py", CLEAN.rstrip() + f"  # {comment}\n")

    assert codes(project("check", "train.py", "--output-format", "json").stdout) == []


def test_a_suppression_of_it_that_silences_nothing_is_told(project: Run) -> None:
    project.write("train.py", "import tensorflow as tf\nx = tf.constant(1.0)  # gradlint: ignore[ACME001]\n")

    assert codes(project("check", "train.py", "--output-format", "json").stdout) == ["GL003"]


def test_gradlint_rule_knows_it(project: Run) -> None:
    listed = project("rule").stdout.splitlines()

    assert listed[0].split() == ["ACME001", "gradient-asked", "warning", "A", "gradient", "is", "asked."]
    assert len(listed) == len(rules_of_gradlint()) + 1
    assert project("rule", "ACME001").stdout.startswith("# gradient-asked (ACME001, warning, since 1.0)\n\nA gradient")
    assert project("rule", "tools/acme.py").stdout == project("rule", "gradient-asked").stdout
    assert json.loads(project("rule", "ACME001", "--output-format", "json").stdout)[0]["name"] == "gradient-asked"


def test_broken_settings_hide_no_rule_of_gradlint(project: Run) -> None:
    project.write("tools/acme.py", "1 / 0\n")

    assert project("rule", "GL101").exit_code == 0
    assert project("rule", "ACME001").stderr == "gradlint: tools/acme.py:1: ZeroDivisionError: division by zero\n"


def test_it_holds_for_the_settings_that_name_it_alone(project: Run) -> None:
    rules = (str(project.folder / "tools/acme.py"),)

    assert [finding.code for finding in check_source(CLEAN, settings=Settings(rules=rules))] == ["ACME001"]
    assert check_source(CLEAN, settings=Settings()) == ()


def test_two_projects_may_use_the_same_code(run: Run) -> None:
    for name, message in (("one", "first"), ("two", "second")):
        run.write(f"{name}/rules.py", RULE.replace("{decision.asked} of `{decision.target}`", message))
    settings = [Settings(root=run.folder / name, rules=("rules.py",)) for name in ("one", "two", "one")]

    found = [check_source(CLEAN, settings=each)[0].message for each in settings]

    assert found == ["first", "second", "first"]


def test_a_file_that_changed_is_read_anew(project: Run) -> None:
    assert codes(project("check", "train.py", "--output-format", "json").stdout) == ["ACME001"]
    project.write("tools/acme.py", RULE.replace("ACME001", "ACME0002"))

    assert codes(project("check", "train.py", "--output-format", "json").stdout) == ["ACME0002"]
    assert project("rule", "ACME001").exit_code == 2


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_job_knows_it(project: Run, jobs: str) -> None:
    for number in range(5):
        project.write(f"src/part_{number}.py", CLEAN)

    result = project("check", "src", "--jobs", jobs, "--output-format", "json")

    assert places(result) == [(f"src/part_{number}.py", 5, "ACME001") for number in range(5)]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_every_process_of_a_pool_knows_it(project: Run, method: str) -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        found = check_paths("train.py", executor=pool)

    assert [(finding.filename, finding.place.row, finding.code) for finding in found] == FOUND


def test_an_event_of_a_fault_brings_verdict_cause_and_variables(run: Run) -> None:
    run.write(
        "acme.py",
        RULE.replace("GradientDecision", "SourcesStarved").replace(
            'Finding(decision.place, f"{decision.asked} of `{decision.target}`")',
            "Finding(decision.cut.place, decision.consequence, trace=decision.trace)",
        ),
    )

    (finding,) = check_source(FAULTY, settings=Settings(select=("ACME",), rules=(str(run.folder / "acme.py"),)))

    assert finding.message == "`w` gets None"
    assert (str(finding.verdict), str(finding.cause)) == ("Verdict.NONE", "Cause.OUTSIDE_TAPE")
    assert finding.variables == ("w",)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_what_a_rule_prints_does_not_get_into_the_report(project: Run, jobs: str) -> None:
    text = RULE.replace("\n\nfrom gradlint.events", '\nprint("loaded")\nfrom gradlint.events')
    project.write("tools/acme.py", text.replace("    return", '    print("asked")\n    return'))
    project.write("other.py", CLEAN)
    arguments = ("check", "other.py", "train.py", "--jobs", jobs, "--output-format", "json")

    result = run_process(*arguments, folder=project.folder)

    assert [name for name, _, _ in places(result)] == ["other.py", "train.py"]
    assert "loaded" in result.stderr
    assert result.stderr.count("asked") == 2
    assert run_process("flow", "train.py", "--output-format", "json", folder=project.folder).stdout.startswith("{")
    assert "loaded" not in run_process("rule", "ACME001", folder=project.folder).stdout


def test_of_a_rule_that_fails_no_comment_is_called_unused_and_none_hides_it(project: Run) -> None:
    project.write("tools/acme.py", RULE[: RULE.index("    return")] + "    raise ValueError\n")
    project.write("train.py", f"{CLEAN}x = 1  # gradlint: ignore[ACME001]\n".replace("as tf\n", "as tf  # noqa\n"))

    assert places(project("check", "train.py", "--output-format", "json")) == [("train.py", 1, "GL009")]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return Finding(decision.place, decision.nothing)", "AttributeError: 'GradientDecision' object has no"),
        ("raise SystemExit(3)", "SystemExit: 3 at acme.py:13"),
        ("return 'found'", "TypeError: expected a Finding or None, got a str"),
        ("return (each for each in ())", "TypeError: expected a Finding or None, got a generator"),
        ("return [Finding(decision.place, 'found')] * 99", "TypeError: expected a Finding or None, got a list"),
        ("raise ValueError(object())", "ValueError: <object object> at acme.py:13"),
        (r"raise ValueError('a\n' * 999)", f"ValueError: {'a ' * 149}a… at acme.py:13"),
        ("return Finding(None, 'found')", "TypeError: place: expected a Place, got a NoneType"),
        ("return Finding(decision.place, 3)", "TypeError: message: expected a string, got an int"),
        ("return Finding(decision.place, ' ')", "ValueError: message: is empty"),
        ("return Finding(decision.place, 'f', 3)", "TypeError: instead: expected a string, got an int"),
        ("return Finding(decision.place, 'f', severity='error')", "TypeError: severity: expected a Severity, got 'err"),
        ("return Finding(decision.place, 'f', verdict='none')", "TypeError: verdict: expected a Verdict, got 'none'"),
        ("return Finding(decision.place, 'f', cause=3)", "TypeError: cause: expected a Cause, got an int"),
        ("return Finding(decision.place, 'f', variables=[1])", "TypeError: variables: expected a string, got an int"),
        ("return Finding(decision.place, 'f', variables='w')", "TypeError: variables: expected a tuple, got a str"),
        ("return Finding(decision.place, 'f', trace=3)", "TypeError: trace: expected a tuple, got an int"),
        ("return Finding(decision.place, 'f', trace=['a'])", "TypeError: trace: expected steps, got a str"),
        ("return Finding(type(decision.place)(3, 1, 1, 1), 'f')", "ValueError: place: rows and columns count from 1"),
        ("return Finding(type(decision.place)(0, 0, 0, 0), 'f')", "ValueError: place: rows and columns count from 1"),
        ("return Finding(type(decision.place)(1, 1, 1, '2'), 'f')", "TypeError: place: a Place holds integers"),
        (
            "return Finding(type(decision.place)(99, 1, 99, 2), 'f')",
            "ValueError: place: not in the file: row 99, column",
        ),
        ("return Finding(type(decision.place)(3, 1, 3, 2, 7), 'f')", "ValueError: place: not in the file: row 3"),
        (
            "return Finding(type(decision.place)(3, 1, 3, 2, 0, 9), 'f')",
            "ValueError: place: not in the file: row 3, col",
        ),
    ],
)
def test_a_rule_that_fails_is_a_finding_and_the_run_goes_on(project: Run, body: str, words: str) -> None:
    project.write("tools/acme.py", RULE[: RULE.index("    return")] + f"    {body}\n")
    project.write("train.py", FAULTY)

    result = project("check", "train.py", "--output-format", "json")

    assert (result.exit_code, result.stderr) == (1, "")
    assert places(result) == [("train.py", 1, "GL009"), ("train.py", 3, "GL101")]
    message = result.findings[0]["message"]
    assert message.startswith(f"the rule ACME001 (gradient-asked) failed ({words}")
    assert "mend the rule, or leave it out with `--ignore ACME001`" in project("check", "train.py").stdout
    assert codes(project("check", "train.py", "--ignore", "ACME001", "--output-format", "json").stdout) == ["GL101"]


def test_a_finding_of_lists_and_of_texts_of_a_class_of_the_rule_is_told_by_every_process(project: Run) -> None:
    found = "    return Finding(decision.place, Words('found'), Words('write'), variables=[Words('w')])\n"
    rule = RULE[: RULE.index("    return")] + found
    project.write("tools/acme.py", rule.replace("@rule", "class Words(str):\n    pass\n\n\n@rule"))
    project.write("other.py", CLEAN)

    result = project("check", "train.py", "other.py", "--jobs", "2", "--output-format", "json")

    assert [(each["message"], each["variables"]) for each in result.findings] == [("found", ["w"])] * 2


def test_every_rule_that_fails_is_told_once(project: Run) -> None:
    failing = RULE[: RULE.index("    return")] + "    raise ValueError(decision.place)\n"
    another = failing.replace("ACME001", "ACME002").replace("gradient-asked", "gradient-asked-again")
    project.write("tools/acme.py", failing + another[another.index("@rule") :].replace("def gradient_", "def again_"))
    project.write("train.py", f"{FAULTY}h = tape.gradient(loss, w)\n")

    findings = project("check", "train.py", "--output-format", "json").findings

    assert [each["message"][:16] for each in findings if each["code"] == "GL009"] == [
        "the rule ACME001",
        "the rule ACME002",
    ]


BROKEN_FILES = {
    "no docstring": (RULE.split('"""', 2)[2], "7: ACME001: the file has no docstring, which is the page of the rule"),
    "no rule": ('"""Nothing."""\n', " no rule in it: decorate a function with `gradlint.rule.rule`"),
    "syntax error": ("def (:\n", "1: invalid syntax"),
    "import error": ("\nimport no_such_module_here\n", "2: ModuleNotFoundError: No module named 'no_such_module_here'"),
    "exit": ("import sys\nsys.exit('bye')\n", "2: SystemExit: bye"),
    "several lines": ("\nraise OSError('a\\nb\\x1b')\n", "2: OSError: a\\nb\\x1b"),
    "code of gradlint": (RULE.replace("ACME001", "GL999"), "11: GL999: codes GL... are gradlint's own"),
    "malformed code": (
        RULE.replace("ACME001", "acme-1"),
        "11: the code 'acme-1' is not of the form ABC001 (two or more capitals, three or more digits)",
    ),
    "malformed name": (
        RULE.replace('"gradient-asked"', '"Gradient asked"'),
        "11: the name 'Gradient asked' is not of the form no-gradient-here (small letters, digits, hyphens)",
    ),
    "name of gradlint": (
        RULE.replace('"gradient-asked"', '"syntax-error"'),
        "11: ACME001 (syntax-error): already registered as GL001 (syntax-error)",
    ),
    "two of one code": (
        RULE + RULE[RULE.index("@rule") :].replace("gradient-asked", "other"),
        "14: ACME001 (other): already registered as ACME001 (gradient-asked)",
    ),
    "severity as text": (
        RULE.replace("Severity.WARNING", '"warning"'),
        "11: ACME001: the severity 'warning' is not one of gradlint.rule.Severity",
    ),
    "no event": (RULE.replace(": GradientDecision)", ": int)"), '11: ACME001: no event "int"'),
    "part of an event": (
        RULE.replace("GradientDecision", "SourceDecision"),
        '11: ACME001: no event "SourceDecision"; did you mean "GradientDecision"?',
    ),
    "no annotation": (
        RULE.replace(": GradientDecision)", ")"),
        "11: ACME001: a rule takes one annotated event, by its place; its parameters are (decision)",
    ),
    "a method": (
        RULE.replace("(decision: Grad", "(self, decision: Grad"),
        "11: ACME001: a rule takes one annotated event, by its place; its parameters are (self, decision)",
    ),
    "a keyword": (
        RULE.replace("(decision: Grad", "(*, decision: Grad"),
        "11: ACME001: a rule takes one annotated event, by its place; its parameters are (decision)",
    ),
    "many events": (
        RULE.replace("(decision: Grad", "(*decision: Grad"),
        "11: ACME001: a rule takes one annotated event, by its place; its parameters are (*decision)",
    ),
    "a coroutine": (
        RULE.replace("def gr", "async def gr"),
        "11: ACME001: a rule returns a Finding or None; it is no `async def`, and does not `yield`",
    ),
    "a generator": (
        RULE.replace("    return", "    yield"),
        "11: ACME001: a rule returns a Finding or None; it is no `async def`, and does not `yield`",
    ),
    "a class": (
        RULE[: RULE.index("def ")] + "class Asked:\n    decision: GradientDecision\n",
        "11: ACME001: a rule is a function, as `def` makes it",
    ),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_FILES.values(), ids=BROKEN_FILES)
def test_a_file_that_cannot_be_loaded_ends_the_run_with_one_line(project: Run, text: str, message: str) -> None:
    project.write("tools/acme.py", text)

    result = project("check", "train.py")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"gradlint: tools/acme.py:{message}\n"
    with pytest.raises(RunError):
        check_source(CLEAN, settings=Settings(rules=("tools/acme.py",)))


def test_a_file_with_a_null_byte_is_no_rule_file(project: Run) -> None:
    project.write("tools/acme.py", "x = 1\0\n")

    result = project("check", "train.py")

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("gradlint: tools/acme.py:")
    assert "source code string cannot contain null bytes" in result.stderr


def test_a_file_that_is_not_there_is_told_with_the_line_of_the_settings(project: Run) -> None:
    project.write("pyproject.toml", '[tool.gradlint]\nrules = [\n  "tools/acme.py",\n  "tools/nowhere.py",\n]\n')

    result = project("check", "train.py")

    assert (result.exit_code, result.stderr) == (
        2,
        "gradlint: pyproject.toml:4: rules: tools/nowhere.py: no such file\n",
    )


def test_a_folder_is_no_rule_file(project: Run) -> None:
    project.write("pyproject.toml", '[tool.gradlint]\nrules = ["tools"]\n')

    assert project("check", "train.py").stderr == "gradlint: tools: is a folder; name the files in it\n"


def test_two_files_of_one_project_may_not_share_a_code(project: Run) -> None:
    project.write("pyproject.toml", '[tool.gradlint]\nrules = ["tools/acme.py", "tools/more.py"]\n')
    project.write("tools/more.py", RULE.replace("gradient-asked", "other-name"))

    assert project("check", "train.py").stderr == (
        "gradlint: tools/more.py:11: ACME001 (other-name): already registered as ACME001 (gradient-asked) "
        "in tools/acme.py:11\n"
    )


def test_rules_of_installed_packages_are_known_without_settings(run: Run, tmp_path: Path) -> None:
    run.write("train.py", CLEAN)
    path = installed(tmp_path / "site", {"acme_rules.py": RULE})

    checked = run_process("check", "train.py", "--output-format", "json", folder=run.folder, PYTHONPATH=path)
    explained = run_process("rule", "ACME001", folder=run.folder, PYTHONPATH=path)

    assert places(checked) == FOUND
    assert explained.stdout.startswith("# gradient-asked (ACME001, warning, since 1.0)")


def test_all_modules_of_an_installed_package_count(run: Run, tmp_path: Path) -> None:
    run.write("train.py", CLEAN)
    second = RULE.replace("ACME001", "ACME002").replace("gradient-asked", "asked-again")
    modules = {"acme/__init__.py": "", "acme/rules/__init__.py": RULE, "acme/rules/more.py": second}
    path = installed(tmp_path / "site", modules, "acme.rules")

    result = run_process("check", "train.py", "--output-format", "json", folder=run.folder, PYTHONPATH=path)

    assert codes(result.stdout) == ["ACME001", "ACME002"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\nimport no_such_module_here\n",
            "acme_rules.py:2: ModuleNotFoundError: No module named 'no_such_module_here'",
        ),
        ("def (:\n", "acme_rules.py:1: invalid syntax"),
        ("", "no rule in `acme_rules`, which its entry point names"),
        (RULE.replace("ACME001", "GL101"), "acme_rules.py:11: GL101: codes GL... are gradlint's own"),
        (RULE.replace('"gradient-asked"', '"syntax-error"'), "acme_rules.py:11: ACME001 (syntax-error): already"),
    ],
)
def test_a_broken_package_is_named_in_one_line(run: Run, tmp_path: Path, text: str, message: str) -> None:
    run.write("train.py", CLEAN)
    path = installed(tmp_path / "site", {"acme_rules.py": text})

    result = run_process("check", "train.py", folder=run.folder, PYTHONPATH=path)

    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert result.stderr.startswith("gradlint: acme-gradlint 2.1: ")
    assert message in result.stderr
    assert run_process("check", "--select", "GL1", folder=run.folder, PYTHONPATH=path).stderr == result.stderr


def test_a_module_that_an_entry_point_names_in_vain_is_told(run: Run, tmp_path: Path) -> None:
    run.write("train.py", CLEAN)
    path = installed(tmp_path / "site", {}, "acme_nothing")

    assert run_process("check", "train.py", folder=run.folder, PYTHONPATH=path).stderr == (
        "gradlint: acme-gradlint 2.1: ModuleNotFoundError: No module named 'acme_nothing'\n"
    )


def test_a_rule_file_may_not_share_a_code_with_an_installed_package(project: Run, tmp_path: Path) -> None:
    path = installed(tmp_path / "site", {"acme_rules.py": RULE})

    result = run_process("check", "train.py", folder=project.folder, PYTHONPATH=path)

    assert result.exit_code == 2
    assert result.stderr.startswith(
        "gradlint: tools/acme.py:11: ACME001 (gradient-asked): already registered as ACME001 (gradient-asked) in "
    )


def test_help_and_version_load_no_package(run: Run, tmp_path: Path) -> None:
    path = installed(tmp_path / "site", {"acme_rules.py": "raise SystemExit(9)\n"})

    assert run_process("--version", folder=run.folder, PYTHONPATH=path).exit_code == 0
    assert run_process("check", "--help", folder=run.folder, PYTHONPATH=path).exit_code == 0


def test_each_event_of_a_rule_of_gradlint_is_there_for_rules_of_ones_own() -> None:
    taken = {rule.event for rule in rules_of_gradlint() if rule.event is not None}

    assert sorted(event.__name__ for event in taken - set(EVENTS.values())) == []
    assert sorted(event.__name__ for event in set(EVENTS.values()) - taken) == ["GradientDecision"]
