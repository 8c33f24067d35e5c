"""Jupyter notebooks: their code cells are judged as one program, places are told by cell and row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support import CLEAN, FAULTY, Outcome, Run

Cell = str | tuple[str, str]
SETUP = "import tensorflow as tf\nw = tf.Variable(2.0)"
#: The fault stands on row 2 of the cell, column 12.
CUT = "with tf.GradientTape() as tape:\n    loss = tf.round(w) * 3.0\ntape.gradient(loss, w)"
FLOWS = CUT.replace("tf.round(w)", "w")


def cell(content: Cell) -> dict[str, Any]:
    kind, source = content if isinstance(content, tuple) else ("code", content)
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source.splitlines(keepends=True)}
    return made | {"execution_count": None, "outputs": []} if kind == "code" else made


def notebook(*cells: Cell, language: str | None = "python") -> str:
    """A notebook of nbformat 4; a cell is its code, or its kind and its text."""
    metadata = {"language_info": {"name": language}} if language else {}
    return json.dumps(
        {"cells": [cell(each) for each in cells], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def old_notebook(*sheets: list[str]) -> str:
    """A notebook of nbformat 3."""
    worksheets = [
        {"cells": [{"cell_type": "code", "language": "python", "input": each, "outputs": []} for each in sheet]}
        for sheet in sheets
    ]
    return json.dumps({"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": worksheets})


def judge(run: Run, *cells: Cell) -> list[tuple[int, int, str]]:
    """Cell, row and code of each finding in a notebook."""
    run.write("nb.ipynb", notebook(*cells))
    return placed(run("check", "nb.ipynb", "--output-format", "json"))


def placed(outcome: Outcome) -> list[tuple[int, int, str]]:
    return [(each["cell"], each["location"]["row"], each["code"]) for each in outcome.findings]


def test_a_fault_is_told_by_its_cell_and_the_row_in_it(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT))

    (finding,) = run("check", ".", "--output-format", "json").findings

    assert (finding["filename"], finding["code"], finding["cell"]) == ("nb.ipynb", "GL202", 2)
    assert (finding["location"], finding["end_location"]) == ({"row": 2, "column": 12}, {"row": 2, "column": 23})
    assert [(step["cell"], step["location"]["row"], step["filename"]) for step in finding["trace"]] == [
        (1, 2, "nb.ipynb"),
        (2, 1, "nb.ipynb"),
        (2, 2, "nb.ipynb"),
        (2, 2, "nb.ipynb"),
        (2, 3, "nb.ipynb"),
    ]


def test_a_notebook_without_a_fault_has_no_finding(run: Run) -> None:
    assert judge(run, SETUP, FLOWS) == []


def test_cells_of_every_kind_are_counted(run: Run) -> None:
    cells: list[Cell] = [("markdown", "# Title"), SETUP, ("raw", "tf.round(w)"), "", ("markdown", CUT), CUT]

    assert judge(run, *cells) == [(6, 2, "GL202")]


def test_two_faults_of_the_same_row_in_two_cells_are_two_findings(run: Run) -> None:
    assert judge(run, SETUP, CUT, CUT) == [(2, 2, "GL202"), (3, 2, "GL202")]


@pytest.mark.parametrize(
    ("sheets", "expected"),
    [
        ([[SETUP, CUT]], [(2, 2, "GL202")]),
        ([[SETUP], [CUT]], [(2, 2, "GL202")]),
        ([[SETUP, FLOWS]], []),
    ],
    ids=["one sheet", "two sheets", "no fault"],
)
def test_notebooks_of_the_third_format_are_read(
    sheets: list[list[str]], expected: list[tuple[int, int, str]], run: Run
) -> None:
    run.write("nb.ipynb", old_notebook(*sheets))

    assert placed(run("check", "nb.ipynb", "--output-format", "json")) == expected


def test_the_source_of_a_cell_may_be_one_string(run: Run) -> None:
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in (SETUP, CUT)]
    run.write("nb.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))

    assert placed(run("check", "nb.ipynb", "--output-format", "json")) == [(2, 2, "GL202")]


def test_a_notebook_with_a_byte_order_mark_is_read(run: Run) -> None:
    run.write("nb.ipynb", b"\xef\xbb\xbf" + notebook(SETUP, CUT).encode())

    assert placed(run("check", "nb.ipynb", "--output-format", "json")) == [(2, 2, "GL202")]


def test_lines_may_end_as_on_windows(run: Run) -> None:
    assert judge(run, SETUP.replace("\n", "\r\n"), CUT.replace("\n", "\r\n")) == [(2, 2, "GL202")]


def test_concise_output_names_the_cell(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT))

    lines = run("check", "nb.ipynb", "--output-format", "concise").stdout.splitlines()

    assert lines == [
        "nb.ipynb:cell 2:2:12: error GL202 non-differentiable-operation: `w` gets None: `tf.round(w)` has no gradient",
        "Found 1 finding (1 error, 0 warnings).",
        "Decided 1 of 1 source (100%) in 1 gradient call.",
    ]


def test_full_output_shows_the_row_of_the_cell_and_a_trace_over_cells(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT))

    lines = run("check", "nb.ipynb").stdout.splitlines()

    assert lines[0].startswith("nb.ipynb:cell 2:2:12: error GL202 ")
    assert lines[1:8] == [
        "    2 |     loss = tf.round(w) * 3.0",
        "      |            ^^^^^^^^^^^",
        "   trace cell 1:2  `w` made here",
        "         cell 2:1  `tape` opened here",
        "         cell 2:2  `tf.round(w)` computed here",
        "         cell 2:2  `tf.round(w) * 3.0` computed from it here",
        "         cell 2:3  gradient asked here",
    ]


#: Cells in which the loss is computed after a line of IPython: the fault stands on row 3.
MAGICS = {
    "a line magic": "%matplotlib inline",
    "a line magic with a number": "%tensorflow_version 2.x",
    "a line magic with options": "%load_ext tensorboard",
    "an unfinished string in a magic": "%cd it's",
    "a command for the shell": "!ls -l | grep 'x",
    "a command with braces": "!pip install {package}==2.0",
    "a command for the shell, its output kept as a list": "files = !ls",
    "the result of a magic": "here = %pwd",
    "help at the end": "tf.round?",
    "help and source at the end": "tf.round??",
    "help at the start": "?tf.round",
    "help about a magic": "%timeit?",
    "help with a wildcard": "tf.*round*?",
    "a timed statement": "%time count = 1",
    "a repeated statement": "%timeit tf.round(w)",
}


@pytest.mark.parametrize("line", MAGICS.values(), ids=MAGICS.keys())
def test_a_line_of_ipython_does_nothing_and_the_rest_of_its_cell_is_judged(line: str, run: Run) -> None:
    assert judge(run, SETUP, f"{line}\n{CUT}") == [(2, 3, "GL202")]
    assert judge(run, SETUP, f"{line}\n{FLOWS}") == []


@pytest.mark.parametrize("line", MAGICS.values(), ids=MAGICS.keys())
def test_a_line_of_ipython_in_a_block_does_nothing(line: str, run: Run) -> None:
    assert judge(run, SETUP, f"if w is not None:\n    {line}\n{CUT}") == [(2, 4, "GL202")]


def test_a_timed_statement_may_be_a_compound_one(run: Run) -> None:
    assert judge(run, SETUP, f"%time for i in range(3): pass\n{CUT}") == [(2, 3, "GL202")]


@pytest.mark.parametrize("line", ["pip install tensorflow", "cd data", "conda install tensorflow"])
def test_a_magic_may_stand_without_its_sign(line: str, run: Run) -> None:
    assert judge(run, line, SETUP, CUT) == [(3, 2, "GL202")]


def test_a_command_for_the_shell_may_go_on_over_lines(run: Run) -> None:
    assert judge(run, SETUP, "!pip install \\\n    tensorflow \\\n    keras\n" + CUT) == [(2, 5, "GL202")]


def test_a_timed_statement_binds_what_it_binds(run: Run) -> None:
    setup = SETUP + "\ndef compute():\n    return tf.round(w) * 3.0"
    asked = "with tf.GradientTape() as tape:\n    %time loss = compute()\ntape.gradient(loss, w)"

    assert judge(run, setup, asked) == [(1, 4, "GL202")]
    assert judge(run, setup.replace("tf.round(w)", "w"), asked) == []


def test_a_timed_call_is_made(run: Run) -> None:
    setup = SETUP + "\ndef train():\n    " + CUT.replace("\n", "\n    ")

    assert judge(run, setup, "%time train()") == [(1, 5, "GL202")]


def test_columns_behind_a_magic_are_those_of_the_cell(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT.replace("    loss", "    %time loss")))

    (finding,) = run("check", "nb.ipynb", "--output-format", "json").findings

    assert (finding["location"], finding["end_location"]) == ({"row": 2, "column": 18}, {"row": 2, "column": 29})


def test_what_a_line_of_ipython_binds_is_bound_to_something_unknown(run: Run) -> None:
    setup = SETUP + "\nloss = tf.round(w)"
    asked = "with tf.GradientTape() as tape:\n    loss = !compute\ntape.gradient(loss, w)"

    assert judge(run, setup, asked) == []


@pytest.mark.parametrize("magic", ["%%time", "%%capture", "%%capture output", "%%timeit -n 1"])
def test_a_cell_magic_over_python_leaves_the_cell_to_be_judged(magic: str, run: Run) -> None:
    assert judge(run, SETUP, f"{magic}\n{CUT}") == [(2, 3, "GL202")]
    assert judge(run, SETUP, f"{magic}\n{FLOWS}") == []


def test_a_cell_magic_may_stand_behind_blank_lines(run: Run) -> None:
    assert judge(run, SETUP, f"\n\n%%time\n{CUT}") == [(2, 5, "GL202")]


@pytest.mark.parametrize(
    "magic", ["%%bash", "%%html", "%%javascript", "%%writefile train.py", "%%script false", "%%sh"]
)
def test_a_cell_for_something_else_is_left_out(magic: str, run: Run) -> None:
    assert judge(run, SETUP, f"{magic}\n{CUT}", "%%bash\nfor x in *; do echo $x; done", CUT) == [(4, 2, "GL202")]


@pytest.mark.parametrize("above", ["#@title Style\n", "# a note\n\n#@markdown text\n", "\n  # indented\n"])
@pytest.mark.parametrize("magic", ["%%html", "%%writefile train.py", "%%bash"])
def test_a_cell_for_something_else_may_begin_with_comments(above: str, magic: str, run: Run) -> None:
    other = f"{above}{magic}\n<style> a {{ color: red }} </style>\nfor x in *; do echo it's $x; done"

    assert judge(run, SETUP, other, CUT) == [(3, 2, "GL202")]


def test_comments_above_a_magic_over_python_leave_the_cell_to_be_judged(run: Run) -> None:
    assert judge(run, SETUP, f"#@title Train\n%%time\n{CUT}") == [(2, 4, "GL202")]
    assert judge(run, SETUP, f"#@title Train\n!pip install \\\n  keras\n{CUT}") == [(2, 5, "GL202")]


def test_an_operator_at_the_start_of_a_line_is_no_magic(run: Run) -> None:
    over_lines = CUT.replace("tf.round(w) * 3.0", "(\n        tf.round(w)\n%5.0\n        * 3.0\n    )")

    assert judge(run, SETUP, over_lines) == [(2, 3, "GL202")]
    assert judge(run, SETUP, over_lines.replace("tf.round(w)", "w")) == []


def test_an_indented_cell_is_judged_at_the_columns_that_its_author_sees(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, "    " + CUT.replace("\n", "\n    ")))

    (finding,) = run("check", "nb.ipynb", "--output-format", "json").findings

    assert (finding["cell"], finding["location"]) == (2, {"row": 2, "column": 16})


def test_rows_are_told_by_line_ends_alone(run: Run) -> None:
    separators = "x = 'a\u2028b\u0085c'\n\x0c\n"

    assert judge(run, SETUP, separators + CUT) == [(2, 4, "GL202")]


def test_a_script_that_a_magic_runs_leaves_its_names_unknown(run: Run) -> None:
    asked = CUT.replace("tf.round(w)", "loss_of(w)")

    assert judge(run, SETUP, "%run losses.py", asked) == []


def test_standard_input_under_the_name_of_a_notebook_is_one(run: Run) -> None:
    content = notebook(SETUP, CUT).encode()

    outcome = run("check", "-", "--stdin-filename", "nb.ipynb", "--output-format", "json", stdin=content)

    assert placed(outcome) == [(2, 2, "GL202")]


def test_text_that_looks_like_a_magic_stays_text(run: Run) -> None:
    text = 'text = """\n%%bash\n!ls\n%time x\n"""'

    assert judge(run, SETUP, f"{text}\n{CUT}") == [(2, 7, "GL202")]


@pytest.mark.parametrize(
    "cell_before",
    ["await prepare()", "async with lock:\n    pass", "async for each in stream():\n    pass"],
    ids=["await", "async with", "async for"],
)
def test_await_may_stand_at_the_top_of_a_cell(cell_before: str, run: Run) -> None:
    assert judge(run, SETUP, cell_before, CUT) == [(3, 2, "GL202")]
    assert judge(run, SETUP, cell_before, FLOWS) == []


@pytest.mark.parametrize(
    ("broken", "row"),
    [
        pytest.param("x = 1\n\nfor", 3, id="keyword"),
        pytest.param("print 'old'", 1, id="Python 2"),
        pytest.param("compute(1,\n", 1, id="bracket"),
        pytest.param(
            "x = 1\ny = (",
            2,
            id="assignment",
        ),
        pytest.param(
            "x = 1\n  y = 2",
            2,
            id="indentation",
        ),
    ],
)
def test_a_syntax_error_is_told_in_its_cell_and_the_others_are_judged(broken: str, row: int, run: Run) -> None:
    assert judge(run, SETUP, broken, CUT) == [(2, row, "GL001"), (3, 2, "GL202")]


def test_each_cell_with_a_syntax_error_is_told(run: Run) -> None:
    assert judge(run, SETUP, "x = (", CUT, "y = (") == [(2, 1, "GL001"), (3, 2, "GL202"), (4, 1, "GL001")]


def test_a_syntax_error_of_a_cell_is_shown_with_its_row(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, "\nvalue = (\n"))

    lines = run("check", "nb.ipynb").stdout.splitlines()

    assert lines[0].startswith("nb.ipynb:cell 2:2:9: error GL001 syntax-error: ")
    assert lines[1] == "    2 | value = ("


@pytest.mark.parametrize(
    "stop",
    ["raise SystemExit", 'raise ValueError("stop here")', "import sys\nsys.exit()", "assert False", "exit()"],
)
def test_a_cell_that_raises_does_not_end_the_notebook(stop: str, run: Run) -> None:
    assert judge(run, SETUP, stop, CUT) == [(3, 2, "GL202")]
    assert judge(run, SETUP, stop, FLOWS) == []


def test_what_stands_behind_a_raise_in_its_cell_is_not_reached(run: Run) -> None:
    assert judge(run, SETUP, f"raise ValueError\n{CUT}") == []


def test_a_comment_silences_a_finding_of_its_cell_alone(run: Run) -> None:
    silenced = CUT.replace("* 3.0", "* 3.0  # gradlint: ignore[GL202]")

    assert judge(run, SETUP, silenced) == []
    assert judge(run, SETUP, silenced, CUT) == [(3, 2, "GL202")]
    assert judge(run, SETUP, CUT, silenced) == [(2, 2, "GL202")]


def test_a_comment_at_the_end_of_a_cell_does_not_speak_for_the_next_one(run: Run) -> None:
    comment = "x = 1\n# gradlint: ignore[GL202]"

    assert judge(run, SETUP, comment, "loss = 0\n" + CUT) == [(2, 2, "GL003"), (3, 3, "GL202")]


def test_a_comment_that_silences_nothing_is_told_in_its_cell(run: Run) -> None:
    assert judge(run, SETUP, "\nx = 1  # gradlint: ignore[GL202]", CUT) == [(2, 2, "GL003"), (3, 2, "GL202")]


def test_a_comment_behind_a_magic_counts(run: Run) -> None:
    silenced = CUT.replace("* 3.0", "* 3.0  # gradlint: ignore[GL202]").replace("    loss", "    %time loss")

    assert judge(run, SETUP, silenced) == []


def test_skip_file_in_any_cell_silences_the_notebook(run: Run) -> None:
    assert judge(run, SETUP, CUT, "# gradlint: skip-file") == []


@pytest.mark.parametrize("magic", ["%%bash", "%%writefile a.py", "%%html", "%%javascript", "%%script false"])
@pytest.mark.parametrize(
    "comment", ["# gradlint: skip-file", "# gradlint: ignore[GL101]", "# gradlint: off", "echo 1  # noqa: GL999"]
)
def test_comments_in_a_cell_for_something_else_do_not_count(run: Run, magic: str, comment: str) -> None:
    assert judge(run, SETUP, f"{magic}\n{comment}", CUT) == [(3, 2, "GL202")]


def test_comments_below_the_syntax_error_of_a_cell_do_not_count(run: Run) -> None:
    assert judge(run, SETUP, "x = )\n# gradlint: skip-file\n# gradlint: off") == [(2, 1, "GL001")]
    assert judge(run, SETUP, "# gradlint: skip-file\nx = )") == []


@pytest.mark.parametrize("language", ["R", "julia", "scala", "C++17"])
def test_notebooks_in_another_language_are_left_alone(language: str, run: Run) -> None:
    run.write("nb.ipynb", notebook("library(keras)\nx <- (1", CUT, language=language))

    outcome = run("check", "nb.ipynb", "--output-format", "json")

    assert (outcome.exit_code, outcome.findings) == (0, [])


@pytest.mark.parametrize("language", ["python", "Python", "ipython3", None])
def test_notebooks_in_python_are_judged_however_that_is_told(language: str | None, run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT, language=language))

    assert placed(run("check", "nb.ipynb", "--output-format", "json")) == [(2, 2, "GL202")]


def test_the_kernel_tells_the_language_where_nothing_else_does(run: Run) -> None:
    content = json.loads(notebook("library(keras)\nx <- (1", language=None))
    content["metadata"] = {"kernelspec": {"language": "R", "name": "ir"}}
    run.write("nb.ipynb", json.dumps(content))

    assert run("check", "nb.ipynb", "--output-format", "json").findings == []


NOT_NOTEBOOKS = {
    "broken JSON": '{"cells": [ "tensorflow"',
    "text": "import tensorflow as tf\n",
    "a list": '["tensorflow"]',
    "a string": '"tensorflow"',
    "null": "null  ",
    "an object without cells": '{"tensorflow": 1}',
    "cells that are no list": '{"cells": "tensorflow"}',
    "a number with 5000 digits": '{"cells": [], "tensorflow": ' + "1" * 5000 + "}",
    "brackets without end": '{"tensorflow": ' + "[" * 100_000,
    "bytes that are no UTF-8": b'{"tensorflow": "\xff"}',
    "null bytes": b"tensorflow\0\0",
}


@pytest.mark.parametrize("content", NOT_NOTEBOOKS.values(), ids=NOT_NOTEBOOKS.keys())
def test_what_is_no_notebook_is_one_finding_and_the_run_goes_on(content: str | bytes, run: Run) -> None:
    run.write("bad.ipynb", content if content != "null  " else "null // tensorflow")
    run.write("nb.ipynb", notebook(SETUP, CUT))

    outcome = run("check", ".", "--output-format", "json")

    assert [(each["filename"], each["code"]) for each in outcome.findings] == [
        ("bad.ipynb", "GL002"),
        ("nb.ipynb", "GL202"),
    ]
    assert outcome.exit_code == 1


@pytest.mark.parametrize("content", ["", "{}", '{"cells": []}', "[]"], ids=["nothing", "object", "no cells", "list"])
def test_a_file_that_does_not_name_tensorflow_is_not_looked_at(content: str, run: Run) -> None:
    run.write("empty.ipynb", content)
    run.write("nb.ipynb", notebook(SETUP, CUT))

    outcome = run("check", ".", "--output-format", "json")

    assert [(each["filename"], each["code"]) for each in outcome.findings] == [("nb.ipynb", "GL202")]


def test_odd_cells_are_passed_over(run: Run) -> None:
    content = json.loads(notebook(SETUP, CUT))
    content["cells"][1:1] = [None, 3, [], {}, {"cell_type": "code"}, {"cell_type": "code", "source": None}]
    run.write("nb.ipynb", json.dumps(content))

    assert placed(run("check", "nb.ipynb", "--output-format", "json"))[-1:] == [(8, 2, "GL202")]


def test_a_notebook_without_cells_has_no_finding(run: Run) -> None:
    run.write("nb.ipynb", json.dumps({"cells": [], "metadata": {"title": "tensorflow"}, "nbformat": 4}))

    assert run("check", "nb.ipynb", "--output-format", "json").findings == []


LOSSES = "import tensorflow as tf\n\n\ndef loss_of(w):\n    return tf.round(w) * 3.0\n"
IMPORTED = CUT.replace("tf.round(w) * 3.0", "loss_of(w)")


def test_a_notebook_imports_modules_of_the_project(run: Run) -> None:
    run.write("losses.py", LOSSES)
    run.write("nb.ipynb", notebook(SETUP, "from losses import loss_of", IMPORTED))

    (finding,) = run("check", ".", "--output-format", "json").findings
    assert (finding["filename"], finding["location"]["row"], finding["cell"]) == ("losses.py", 5, None)
    assert [(step["filename"], step["cell"]) for step in finding["trace"]] == [
        ("nb.ipynb", 1),
        ("nb.ipynb", 3),
        ("losses.py", None),
        ("losses.py", None),
        ("nb.ipynb", 3),
    ]


def test_named_alone_a_notebook_has_the_finding_in_its_cell(run: Run) -> None:
    run.write("losses.py", LOSSES)
    run.write("nb.ipynb", notebook(SETUP, "from losses import loss_of", IMPORTED))

    (finding,) = run("check", "nb.ipynb", "--output-format", "json").findings
    assert (finding["filename"], finding["cell"], finding["location"]["row"]) == ("nb.ipynb", 3, 3)
    assert "losses.py" in {step["filename"] for step in finding["trace"]}


def test_a_module_that_is_named_alone_has_the_finding_that_a_notebook_leads_to(run: Run) -> None:
    run.write("pkg/__init__.py")
    run.write("pkg/losses.py", LOSSES)
    run.write("nb.ipynb", notebook("%matplotlib inline", SETUP, "from pkg.losses import loss_of", IMPORTED))

    for named in ("pkg/losses.py", "pkg"):
        (finding,) = run("check", named, "--output-format", "json").findings
        assert (finding["filename"], finding["location"]["row"], finding["code"]) == ("pkg/losses.py", 5, "GL202")


def test_a_comment_for_what_a_notebook_leads_to_is_used_in_the_module_alone_as_well(run: Run) -> None:
    run.write("losses.py", LOSSES.replace("* 3.0", "* 3.0  # gradlint: ignore[GL202]"))
    run.write("nb.ipynb", notebook(SETUP, "from losses import loss_of", IMPORTED))

    for named in (".", "losses.py"):
        assert run("check", named, "--output-format", "json").findings == []


def test_a_notebook_whose_module_lets_the_gradient_pass_has_no_finding(run: Run) -> None:
    run.write("losses.py", LOSSES.replace("tf.round(w)", "w"))
    run.write("nb.ipynb", notebook(SETUP, "from losses import loss_of", IMPORTED))

    assert run("check", ".", "--output-format", "json").findings == []


def test_full_output_names_cells_of_the_notebook_that_leads_to_a_module(run: Run) -> None:
    run.write("losses.py", LOSSES)
    run.write("nb.ipynb", notebook(SETUP, "from losses import loss_of", IMPORTED))

    lines = run("check", ".").stdout.splitlines()

    assert lines[3:8] == [
        "   trace nb.ipynb:cell 1:2  `w` made here",
        "         nb.ipynb:cell 3:1  `tape` opened here",
        "            5  `tf.round(w)` computed here",
        "            5  `tf.round(w) * 3.0` computed from it here",
        "         nb.ipynb:cell 3:3  gradient asked here",
    ]


def test_a_notebook_in_a_folder_of_its_own_imports_from_the_root_of_the_project(run: Run) -> None:
    run.write("pyproject.toml", "[project]\nname = 'app'\n")
    run.write("app/__init__.py")
    run.write("app/losses.py", LOSSES)
    run.write("notebooks/nb.ipynb", notebook(SETUP, "from app.losses import loss_of", IMPORTED))

    outcome = run("check", ".", "--output-format", "json")

    assert [(each["filename"], each["code"]) for each in outcome.findings] == [("app/losses.py", "GL202")]


def test_the_same_program_is_judged_alike_in_one_cell_and_in_a_file(run: Run) -> None:
    assert judge(run, FAULTY) == [(1, 3, "GL101")]
    assert judge(run, CLEAN) == []


def test_the_number_of_processes_changes_nothing(run: Run) -> None:
    for number in range(4):
        run.write(f"nb{number}.ipynb", notebook(SETUP, "for", CUT))

    reports = {run("check", ".", "--output-format", "json", "--jobs", jobs).stdout for jobs in ("1", "2")}

    (told,) = reports
    assert len(json.loads(told)) == 8


@pytest.mark.parametrize("command", ["check", "flow"])
def test_a_notebook_is_never_changed(command: str, run: Run) -> None:
    content = notebook(SETUP, "%time x = 1\n!ls\n", CUT).replace("\n", "\r\n").encode() + b"\n\n"
    path = run.write("nb.ipynb", content)

    run(command, "nb.ipynb")

    assert path.read_bytes() == content
    assert [each.name for each in run.folder.iterdir()] == ["nb.ipynb"]


def test_flow_says_what_is_known_of_the_gradient_calls_of_a_notebook(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, FLOWS))

    assert run("flow", "nb.ipynb").stdout.splitlines()[1:] == ["    w  flows", "decided 1 of 1 source (100%)"]


def test_flow_names_the_cells(run: Run) -> None:
    run.write("nb.ipynb", notebook(SETUP, CUT))

    lines = run("flow", "nb.ipynb").stdout.splitlines()

    assert lines[0] == "nb.ipynb:cell 2:3:1: gradient of `loss`"
    assert lines[1] == "    w  none: non-differentiable at cell 2 line 2"


def test_a_script_of_cells_may_hold_magics(run: Run) -> None:
    run.write(
        "cells.py",
        "# %%\n%matplotlib inline\nimport tensorflow as tf\nw = tf.Variable(2.0)\n\n# %% [markdown]\n# text\n\n# %%\n"
        "!nvidia-smi\nwith tf.GradientTape() as tape:\n    loss = tf.round(w) * 3.0\ntape.gradient(loss, w)\n",
    )

    outcome = run("check", "cells.py", "--output-format", "json")

    assert [(each["code"], each["location"], each["cell"]) for each in outcome.findings] == [
        ("GL202", {"row": 12, "column": 12}, None)
    ]


def test_a_script_without_cells_may_not_hold_magics(run: Run) -> None:
    run.write("script.py", "%matplotlib inline\nimport tensorflow as tf\n")

    assert [each["code"] for each in run("check", "script.py", "--output-format", "json").findings] == ["GL001"]


def test_code_in_pages_and_docstrings_is_judged_on_request(run: Run) -> None:
    code = "import tensorflow as tf\nw = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    loss = tf.round(w)\n"
    code += "tape.gradient(loss, w)\n"
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    prompted = "".join(f"    {'...' if line.startswith(' ') else '>>>'} {line}\n" for line in code.splitlines())
    run.write("page.md", f"# Title\n\n```python\n{code}```\n\n```bash\nls\n```\n\n```python\nnot (Python\n```\n")
    run.write("page.rst", f"Title\n=====\n\n.. code-block:: python\n\n{indented}\nText.\n")
    run.write("module.py", f'def documented():\n    """Does nothing.\n\n{prompted}    """\n')

    asked = run("check", ".", "--include-docs", "--output-format", "json").findings
    silent = run("check", ".", "--output-format", "json").findings

    assert [(each["filename"], each["location"]) for each in asked] == [
        ("module.py", {"row": 7, "column": 20}),
        ("page.md", {"row": 7, "column": 12}),
        ("page.rst", {"row": 9, "column": 16}),
    ]
    assert silent == []
