"""The probe on control flow: where eager code gets None, a graph gets 0.0, and some of these zeros are structural."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from gradlint import probe
from gradlint.verdicts import Cause, Verdict

tf = pytest.importorskip("tensorflow")

Program = Callable[[Any, Any, Any], Any]


def row_of(program: Callable[..., Any], marker: str) -> int:
    """The row of the one line of a program that ends in this comment."""
    lines, first = inspect.getsourcelines(program)
    (place,) = (place for place, line in enumerate(lines) if line.rstrip().endswith(f"# {marker}"))
    return first + place


@cache
def observed(program: Program, *, compiled: bool) -> probe.GradientReport:
    """What became of `w` and `v`; `on` is a tensor, so that a compiled program decides when it runs."""
    w, v = tf.Variable([1.4, 2.3]), tf.Variable([1.0, 2.0])
    run = tf.function(program) if compiled else program
    with probe.watch() as seen:
        run(w, v, tf.constant(True))
    return seen.report


# In every program `v` flows.


def untaken_branch_of_if(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        near = v * 1.0
        far = w * 1.0
        if on:  # noqa: SIM108
            loss = tf.reduce_sum(near * near)
        else:
            loss = tf.reduce_sum(near * far)
    return tape.gradient(loss, [w, v])


def untaken_branch_of_cond(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.cond(on, lambda: tf.reduce_sum(v * v), lambda: tf.reduce_sum(v * w))
    return tape.gradient(loss, [w, v])


def untaken_branch_of_switch_case(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.switch_case(tf.cast(on, tf.int32), [lambda: tf.reduce_sum(v * w), lambda: tf.reduce_sum(v * v)])
    return tape.gradient(loss, [w, v])


def cut_in_the_branch_that_runs(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 1.0
        if on:  # noqa: SIM108
            loss = tf.reduce_sum(tf.round(near) * v)
        else:
            loss = tf.reduce_sum(near * v)
    return tape.gradient(loss, [w, v])


def cut_in_the_only_branch_that_reads(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 1.0
        if on:  # noqa: SIM108
            loss = tf.reduce_sum(tf.round(near) * v)  # cut
        else:
            loss = tf.reduce_sum(v * v)
    return tape.gradient(loss, [w, v])


def cut_in_a_branch_of_cond(w: Any, v: Any, on: Any) -> Any:
    def rounded() -> Any:
        return tf.reduce_sum(tf.round(w) * v)  # cut

    with tf.GradientTape() as tape:
        loss = tf.cond(on, rounded, lambda: tf.reduce_sum(v * v))
    return tape.gradient(loss, [w, v])


def cut_in_a_case(w: Any, v: Any, on: Any) -> Any:
    def stopped() -> Any:
        return tf.reduce_sum(tf.stop_gradient(w) * v)  # cut

    with tf.GradientTape() as tape:
        loss = tf.switch_case(tf.cast(on, tf.int32), [lambda: tf.reduce_sum(v * v), stopped])
    return tape.gradient(loss, [w, v])


def cut_in_the_body_of_while(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 1.0
        total = tf.reduce_sum(v * 1.0)
        for _ in tf.range(3):
            total = total + tf.reduce_sum(tf.floor(near)) * tf.reduce_sum(v)  # cut
    return tape.gradient(total, [w, v])


def loop_variable_that_nothing_reads_later(w: Any, v: Any, on: Any) -> Any:
    def body(i: Any, side: Any, total: Any) -> Any:
        return i + 1, side * 2.0, total + tf.reduce_sum(v)

    with tf.GradientTape() as tape:
        start = w * 1.0
        _, _, total = tf.while_loop(lambda i, side, total: i < 3, body, [0, start, tf.reduce_sum(v)])
    return tape.gradient(total, [w, v])


def cut_in_map_fn(w: Any, v: Any, on: Any) -> Any:
    def level(entry: Any) -> Any:
        return tf.round(entry)  # cut

    with tf.GradientTape() as tape:
        near = w * 1.0
        loss = tf.reduce_sum(tf.map_fn(level, near) * v)
    return tape.gradient(loss, [w, v])


def cut_in_scan(w: Any, v: Any, on: Any) -> Any:
    def add(total: Any, entry: Any) -> Any:
        return total + tf.floor(entry)  # cut

    with tf.GradientTape() as tape:
        near = w * 1.0
        loss = tf.reduce_sum(tf.scan(add, near, initializer=tf.constant(0.0)) * v)
    return tape.gradient(loss, [w, v])


def cut_in_foldl(w: Any, v: Any, on: Any) -> Any:
    def add(total: Any, entry: Any) -> Any:
        return total + tf.stop_gradient(entry)  # cut

    with tf.GradientTape() as tape:
        near = w * 1.0
        loss = tf.foldl(add, near, initializer=tf.constant(0.0)) * tf.reduce_sum(v)
    return tape.gradient(loss, [w, v])


@dataclass(frozen=True)
class Cut:
    """A program in which every way from `w` is cut inside a body, and what a graph makes of it."""

    program: Program
    cause: Cause
    op: str
    in_graph: Verdict
    """A conditional hands on the None of all its branches; a loop makes it zero."""

    @property
    def __name__(self) -> str:
        return self.program.__name__


UNTAKEN = [untaken_branch_of_if, untaken_branch_of_cond, untaken_branch_of_switch_case]
CUTS = [
    Cut(cut_in_the_only_branch_that_reads, Cause.NON_DIFFERENTIABLE, "Round", Verdict.NONE),
    Cut(cut_in_a_branch_of_cond, Cause.NON_DIFFERENTIABLE, "Round", Verdict.NONE),
    Cut(cut_in_a_case, Cause.STOPPED, "StopGradient", Verdict.NONE),
    Cut(cut_in_the_body_of_while, Cause.NON_DIFFERENTIABLE, "Floor", Verdict.ZERO),
    Cut(cut_in_map_fn, Cause.NON_DIFFERENTIABLE, "Round", Verdict.ZERO),
    Cut(cut_in_scan, Cause.NON_DIFFERENTIABLE, "Floor", Verdict.ZERO),
    Cut(cut_in_foldl, Cause.STOPPED, "StopGradient", Verdict.ZERO),
]


@pytest.mark.parametrize(
    "program",
    [
        *UNTAKEN,
        cut_in_the_branch_that_runs,
        loop_variable_that_nothing_reads_later,
        *(cut.program for cut in CUTS),
    ],
)
def test_eager_code_gives_none(program: Program) -> None:
    report = observed(program, compiled=False)

    assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.FLOWS}
    assert not report["w"].is_structural


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: str(cut.__name__))
def test_eager_code_names_the_line_of_the_branch_or_body(cut: Cut) -> None:
    entry = observed(cut.program, compiled=False)["w"]

    assert (entry.cause, entry.op) == (cut.cause, cut.op)
    assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (__file__, row_of(cut.program, "cut"))


@pytest.mark.parametrize("program", UNTAKEN)
def test_an_untaken_branch_gives_zeros_that_depend_on_the_numbers(program: Program) -> None:
    report = observed(program, compiled=True)

    assert report.verdicts == {"w": Verdict.ZERO, "v": Verdict.FLOWS}
    assert not report["w"].is_structural  # had the other branch run, it would have flowed


def test_a_cut_in_one_branch_of_two_that_read_gives_zeros_that_depend_on_the_numbers() -> None:
    report = observed(cut_in_the_branch_that_runs, compiled=True)

    assert report.verdicts == {"w": Verdict.ZERO, "v": Verdict.FLOWS}
    assert not report["w"].is_structural


@pytest.mark.parametrize("cut", CUTS, ids=lambda cut: str(cut.__name__))
def test_a_way_that_is_cut_in_every_body_is_located_there_and_its_zeros_are_structural(cut: Cut) -> None:
    report = observed(cut.program, compiled=True)

    assert report.verdicts == {"w": cut.in_graph, "v": Verdict.FLOWS}
    entry = report["w"]
    assert entry.is_structural is (cut.in_graph is Verdict.ZERO)
    assert (entry.cause, entry.op) == (cut.cause, cut.op)
    assert entry.cut is not None and (entry.cut.filename, entry.cut.row) == (__file__, row_of(cut.program, "cut"))


def test_structural_zeros_are_an_error_at_the_cut() -> None:
    report = observed(cut_in_map_fn, compiled=True)

    (fault,) = report.faults()
    assert (fault.code, fault.severity.value if fault.severity else None) == ("GL702", "error")
    assert (fault.filename, fault.place.row) == (__file__, row_of(cut_in_map_fn, "cut"))
    assert fault.variables == ("w",)
    with pytest.raises(probe.GradientFlowError, match="`w` gets zero"):
        report.assert_flows()


def test_a_loop_variable_that_nothing_reads_later_gets_structural_zeros() -> None:
    report = observed(loop_variable_that_nothing_reads_later, compiled=True)

    assert report.verdicts == {"w": Verdict.ZERO, "v": Verdict.FLOWS}
    assert report["w"].is_structural


def test_a_cut_in_both_branches_stays_none_in_a_graph() -> None:
    def program(w: Any, v: Any, on: Any) -> Any:
        with tf.GradientTape() as tape:
            near = w * 1.0
            if on:  # noqa: SIM108
                loss = tf.reduce_sum(tf.round(near) * v)  # first
            else:
                loss = tf.reduce_sum(tf.floor(near) * v)  # second
        return tape.gradient(loss, [w, v])

    report = observed(program, compiled=True)

    assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.FLOWS}
    assert report["w"].cause is Cause.NON_DIFFERENTIABLE
    assert report["w"].cut is not None
    assert report["w"].cut.row in (row_of(program, "first"), row_of(program, "second"))


def test_a_cut_in_a_called_function_stays_none_and_is_located_there() -> None:
    def helper(x: Any) -> Any:
        return tf.reduce_sum(tf.round(x))  # cut

    called = tf.function(helper)

    def program(w: Any, v: Any, on: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = called(w * 1.0) * tf.reduce_sum(v)
        return tape.gradient(loss, [w, v])

    for compiled in (False, True):
        report = observed(program, compiled=compiled)

        assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.FLOWS}
        assert (report["w"].cause, report["w"].op) == (Cause.NON_DIFFERENTIABLE, "Round")
        assert report["w"].cut is not None and report["w"].cut.row == row_of(helper, "cut")


# What flows through control flow.


def both_branches(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        if on:  # noqa: SIM108
            loss = tf.reduce_sum(w * v)
        else:
            loss = tf.reduce_sum(w * w * v)
    return tape.gradient(loss, [w, v])


def while_over_both(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(v * 1.0)
        for i in tf.range(3):
            total = total + tf.cast(i + 1, tf.float32) * tf.reduce_sum(w * v)
    return tape.gradient(total, [w, v])


def map_over_rows(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.map_fn(tf.exp, w * 1.0) * v)
    return tape.gradient(loss, [w, v])


def scan_over_rows(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.scan(lambda total, entry: total + tf.exp(entry), w * 1.0) * v)
    return tape.gradient(loss, [w, v])


def fold_over_rows(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.foldl(lambda total, entry: total + entry * entry, w * 1.0) * tf.reduce_sum(v)
    return tape.gradient(loss, [w, v])


def cut_beside_a_way_that_flows(w: Any, v: Any, on: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 1.0
        loss = tf.reduce_sum(near * v)
        if on:
            loss = loss + tf.reduce_sum(tf.round(near))
    return tape.gradient(loss, [w, v])


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    "program",
    [both_branches, while_over_both, map_over_rows, scan_over_rows, fold_over_rows, cut_beside_a_way_that_flows],
)
def test_healthy_control_flow_is_no_finding(program: Program, compiled: bool) -> None:
    report = observed(program, compiled=compiled)

    assert report.verdicts == {"w": Verdict.FLOWS, "v": Verdict.FLOWS}
    assert report.faults() == ()
    assert report.notes == ()


def test_zeros_are_judged_over_all_steps() -> None:
    w, v = tf.Variable([1.4, 2.3]), tf.Variable([1.0, 2.0])
    program = tf.function(untaken_branch_of_if)

    with probe.watch() as seen:
        for step in range(4):
            program(w, v, tf.constant(step != 2))

    assert seen.report.verdicts == {"w": Verdict.FLOWS, "v": Verdict.FLOWS}
    assert seen.report["w"].steps == 4
    assert seen.report.faults() == ()
