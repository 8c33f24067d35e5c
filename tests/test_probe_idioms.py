"""The probe on idioms of tf.GradientTape: what each source gets, why, and the line that cuts; eagerly and compiled."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradlint import probe
from gradlint.verdicts import Cause, Verdict

tf = pytest.importorskip("tensorflow")

Idiom = Callable[[Any, Any], Any]


def row_of(program: Callable[..., Any], marker: str) -> int:
    """The row of the one line of a program that ends in this comment."""
    lines, first = inspect.getsourcelines(program)
    (place,) = (place for place, line in enumerate(lines) if line.rstrip().endswith(f"# {marker}"))
    return first + place


def observed(idiom: Idiom, w: Any, v: Any, *, compiled: bool) -> probe.GradientReport:
    """What the gradients that the idiom asks for did."""
    run = tf.function(idiom) if compiled else idiom
    with probe.watch() as seen:
        run(w, v)
    return seen.report


# In every idiom `v` reaches the loss and `w` does not, unless its name says otherwise.


def forward_outside_tape(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
    loss = tf.reduce_sum(near * v)  # cut
    return tape.gradient(loss, [w, v])


def derived_before_tape(w: Any, v: Any) -> Any:
    scale = tf.exp(w)  # cut
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scale * v)
    return tape.gradient(loss, [w, v])


def while_not_recording(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            scale = tf.exp(w)  # cut
        loss = tf.reduce_sum(scale * v)
    return tape.gradient(loss, [w, v])


def wrong_tape(w: Any, v: Any) -> Any:
    with tf.GradientTape() as first:
        scale = tf.exp(w)  # cut
    with tf.GradientTape() as second:
        loss = tf.reduce_sum(scale * v)
    assert first is not second
    return second.gradient(loss, [w, v])


def tape_without_a_name(w: Any, v: Any) -> Any:
    with tf.GradientTape():
        scale = tf.exp(w)  # cut
    with tf.GradientTape() as second:
        loss = tf.reduce_sum(scale * v)
    return second.gradient(loss, [w, v])


def tensor_that_nobody_watches(w: Any, v: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * x * v * w)
    return tape.gradient(loss, [x, v])  # asked


def tape_that_watches_no_variables(w: Any, v: Any) -> Any:
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        loss = tf.reduce_sum(w * v)
    return tape.gradient(loss, [w, v])  # asked


def watch_too_late(w: Any, v: Any) -> Any:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        scale = tf.exp(x)  # cut
        tape.watch(x)
        loss = tf.reduce_sum(scale * v * w)
    return tape.gradient(loss, [x, v])


def never_read(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    return tape.gradient(loss, [w, v])  # asked


def read_and_not_in_the_loss(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        penalty = tf.reduce_sum(w * w)
        loss = tf.reduce_sum(v * v)
    return penalty, tape.gradient(loss, [w, v])  # asked


def rounded(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        levels = tf.round(near)  # cut
        loss = tf.reduce_sum(levels * v)
    return tape.gradient(loss, [w, v])


def cast_to_integers(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        levels = tf.cast(near, tf.int32)  # cut
        doubled = levels * 2
        back = tf.cast(doubled, tf.float32)  # far
        loss = tf.reduce_sum(back * v)
    return tape.gradient(loss, [w, v])


def compared(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        hits = near < 9.0  # cut
        loss = tf.reduce_sum(tf.cast(hits, tf.float32) * v)
    return tape.gradient(loss, [w, v])


def gathered_at_the_largest(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        best = tf.argmax(near)  # cut
        loss = tf.gather(v, best) * 3.0
    return tape.gradient(loss, [w, v])


def stopped(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        held = tf.stop_gradient(near)  # cut
        loss = tf.reduce_sum(held * v)
    return tape.gradient(loss, [w, v])


def _without_gradient(x: Any) -> Any:
    def nothing(upstream: Any) -> None:
        return None

    return x + 1.0, nothing


def custom_gradient_of_none(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        held = tf.custom_gradient(_without_gradient)(near)  # cut
        loss = tf.reduce_sum(held * v)
    return tape.gradient(loss, [w, v])


def through_numpy(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        numbers = np.exp(near.numpy())  # cut
        loss = tf.reduce_sum(tf.constant(numbers) * v)
    return tape.gradient(loss, [w, v])


def through_a_ufunc_of_numpy(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        numbers = np.exp(near)  # cut
        loss = tf.reduce_sum(tf.constant(numbers) * v)
    return tape.gradient(loss, [w, v])


def through_a_function_of_numpy(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        numbers = tf.numpy_function(np.exp, [near], tf.float32)  # cut
        loss = tf.reduce_sum(numbers * v)
    return tape.gradient(loss, [w, v])


def through_the_state_of_a_variable(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        near = w * 2.0
        STATE.assign(near)  # cut
        loss = tf.reduce_sum(STATE * v)
    return tape.gradient(loss, [w, v])


ANY_OP = "*"
STATE = tf.Variable([0.0, 0.0, 0.0])


@dataclass(frozen=True)
class Expected:
    """What the starved source of an idiom gets."""

    idiom: Idiom
    cause: Cause
    op: str = ""
    """Of the cut; empty when no op is to blame; `ANY_OP` where it is TensorFlow's own affair."""
    source: str = "w"
    graph: bool = True
    """Can it be compiled?"""

    @property
    def __name__(self) -> str:
        return self.idiom.__name__


STARVED = [
    Expected(derived_before_tape, Cause.OUTSIDE_TAPE, "Exp"),
    Expected(while_not_recording, Cause.OUTSIDE_TAPE, "Exp"),
    Expected(wrong_tape, Cause.WRONG_TAPE, "Exp"),
    Expected(tape_without_a_name, Cause.WRONG_TAPE, "Exp"),
    Expected(tensor_that_nobody_watches, Cause.NOT_WATCHED, source="x"),
    Expected(tape_that_watches_no_variables, Cause.NOT_WATCHED),
    Expected(watch_too_late, Cause.NOT_WATCHED, "Exp", source="x"),
    Expected(never_read, Cause.NEVER_READ),
    Expected(read_and_not_in_the_loss, Cause.NOT_IN_TARGET),
    Expected(rounded, Cause.NON_DIFFERENTIABLE, "Round"),
    Expected(cast_to_integers, Cause.INTEGER, "Cast"),
    Expected(compared, Cause.INTEGER, "Less"),
    Expected(gathered_at_the_largest, Cause.NON_DIFFERENTIABLE, "ArgMax"),
    Expected(stopped, Cause.STOPPED, "StopGradient"),
    Expected(custom_gradient_of_none, Cause.CUSTOM_GRADIENT, ANY_OP),
    Expected(through_numpy, Cause.LEFT_TENSORFLOW, ANY_OP, graph=False),
    Expected(through_a_ufunc_of_numpy, Cause.LEFT_TENSORFLOW, ANY_OP, graph=False),
    Expected(through_a_function_of_numpy, Cause.LEFT_TENSORFLOW, ANY_OP),
    Expected(through_the_state_of_a_variable, Cause.STATE, "AssignVariableOp"),
]
#: NumPy takes the numbers of a tensor through the buffer protocol, without calling anything that could be observed.
BY_BUFFER = pytest.mark.xfail(strict=True, reason="what NumPy reads of a tensor by itself is not seen")
MODES = [
    pytest.param(
        expected,
        compiled,
        id=f"{expected.__name__}-{'compiled' if compiled else 'eager'}",
        marks=[BY_BUFFER] if expected.idiom is through_a_ufunc_of_numpy else [],
    )
    for expected in STARVED
    for compiled in (False, True)
    if expected.graph or not compiled
]


@cache
def report_of(idiom: Idiom, compiled: bool) -> probe.GradientReport:
    """Of one run; both tests below read it."""
    return observed(idiom, *w_and_v(), compiled=compiled)


def w_and_v() -> tuple[Any, Any]:
    return tf.Variable([1.4, 2.3, -1.7]), tf.Variable([1.0, 2.0, 3.0])


@pytest.mark.parametrize(("expected", "compiled"), MODES)
def test_a_starved_source_has_a_cause_and_the_line_that_cuts(expected: Expected, compiled: bool) -> None:
    report = report_of(expected.idiom, compiled)

    assert report.verdicts == {expected.source: Verdict.NONE, "v": Verdict.FLOWS}
    entry = report[expected.source]
    assert entry.cause is expected.cause
    if expected.op:
        assert entry.cut is not None
        assert (entry.cut.filename, entry.cut.row) == (__file__, row_of(expected.idiom, "cut"))
    else:
        assert entry.cut is None
    if expected.op != ANY_OP:
        assert entry.op == expected.op


@pytest.mark.parametrize(("expected", "compiled"), MODES)
def test_a_starved_source_is_one_fault_at_that_line(expected: Expected, compiled: bool) -> None:
    report = report_of(expected.idiom, compiled)

    (fault,) = report.faults()
    assert (fault.filename, fault.verdict, fault.cause) == (__file__, Verdict.NONE, expected.cause)
    assert fault.variables == (expected.source,)
    if fault.code == "GL701":  # else a finding of the static analysis says the same, with words of its own
        assert fault.place.row == row_of(expected.idiom, "cut" if expected.op else "asked")
        assert f"`{expected.source}` gets None" in fault.message


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_a_loss_outside_the_tape_starves_all_its_sources_for_one_cause(compiled: bool) -> None:
    report = observed(forward_outside_tape, *w_and_v(), compiled=compiled)

    assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.NONE}
    cut = row_of(forward_outside_tape, "cut")
    assert [(entry.cause, entry.cut and entry.cut.row) for entry in report.variables] == [(Cause.OUTSIDE_TAPE, cut)] * 2
    (fault,) = report.faults()
    assert set(fault.variables) == {"w", "v"}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_an_integer_segment_has_two_ends(compiled: bool) -> None:
    entry = observed(cast_to_integers, *w_and_v(), compiled=compiled)["w"]

    assert entry.cut is not None and entry.cut.row == row_of(cast_to_integers, "cut")
    assert entry.far_end is not None and entry.far_end.row == row_of(cast_to_integers, "far")


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_variables_behind_one_cut_share_a_finding_and_others_have_their_own(compiled: bool) -> None:
    a, b, c, d = (tf.Variable(value) for value in (1.4, 1.2, 2.1, 3.3))

    def step() -> Any:
        with tf.GradientTape() as tape:
            level = tf.round(a * b)  # first
            loss = level * d + tf.floor(c)  # second
        return tape.gradient(loss, [a, b, c, d])

    with probe.watch() as seen:
        (tf.function(step) if compiled else step)()

    assert [seen.report[name].verdict for name in "abcd"] == [Verdict.NONE, Verdict.NONE, Verdict.NONE, Verdict.FLOWS]
    told = {fault.variables: fault.place.row for fault in seen.report.faults() if fault.code == "GL701"}
    assert told == {("a", "b"): row_of(step, "first"), ("c",): row_of(step, "second")}


def second_derivative(w: Any, v: Any) -> Any:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum(w * w * w * v)
        first = inner.gradient(loss, w)
        penalty = tf.reduce_sum(first * first)
    return outer.gradient(penalty, [w, v])


def asked_twice(w: Any, v: Any) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_sum(w * w * v)
        other = tf.reduce_sum(w * v)
    return tape.gradient(loss, [w, v]), tape.gradient(other, [w, v])


def watched_tensor(w: Any, v: Any) -> Any:
    x = w + v
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(x * x)
    return tape.gradient(loss, x)


def whole_jacobian(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        outputs = tf.stack([tf.reduce_sum(w * w * v), tf.reduce_sum(w * v)])
    return tape.jacobian(outputs, [w, v])


def straight_through(w: Any, v: Any) -> Any:
    with tf.GradientTape() as tape:
        levels = w + tf.stop_gradient(tf.round(w) - w)
        loss = tf.reduce_sum(levels * v)
    return tape.gradient(loss, [w, v])


def one_tape_in_another(w: Any, v: Any) -> Any:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = tf.reduce_sum(tf.exp(w) * v)
        inner.gradient(loss, v)
        total = loss * 2.0
    return outer.gradient(total, [w, v])


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    "idiom",
    [second_derivative, asked_twice, watched_tensor, whole_jacobian, straight_through, one_tape_in_another],
)
def test_what_flows_is_no_finding(idiom: Idiom, compiled: bool) -> None:
    report = observed(idiom, *w_and_v(), compiled=compiled)

    assert report.variables
    assert set(report.verdicts.values()) == {Verdict.FLOWS}
    assert report.faults() == ()
    assert report.notes == ()
    report.assert_flows()


def test_each_gradient_call_of_a_persistent_tape_has_its_own_entries() -> None:
    def step(w: Any, v: Any) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(w * w)
            other = tf.reduce_sum(w * v)
        tape.gradient(other, [w, v])
        return tape.gradient(loss, [w, v])  # asked

    report = observed(step, *w_and_v(), compiled=False)

    assert [(entry.path, entry.verdict) for entry in report.variables] == [
        ("w", Verdict.FLOWS),
        ("v", Verdict.FLOWS),
        ("w", Verdict.FLOWS),
        ("v", Verdict.NONE),
    ]
    assert report.variables[3].cause is Cause.NOT_IN_TARGET
    assert report.variables[3].asked is not None and report.variables[3].asked.row == row_of(step, "asked")
    assert report.verdicts["v"] is Verdict.NONE  # the worst of both


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_zeros_beside_the_diagonal_of_a_jacobian_are_no_dead_entries(compiled: bool) -> None:
    def jacobian(w: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            outputs = tf.exp(w) * v
        return tape.jacobian(outputs, [w, v])

    report = observed(jacobian, *w_and_v(), compiled=compiled)

    assert report.verdicts == {"w": Verdict.FLOWS, "v": Verdict.FLOWS}
    assert [finding.code for finding in report.findings if finding.code == "GL708"] == []


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_a_jacobian_that_is_cut_is_located(compiled: bool) -> None:
    def jacobian(w: Any, v: Any) -> Any:
        with tf.GradientTape() as tape:
            outputs = tf.floor(w) * v  # cut
        return tape.jacobian(outputs, [w, v])

    report = observed(jacobian, *w_and_v(), compiled=compiled)

    assert report.verdicts["w"] is Verdict.NONE
    assert (report["w"].cause, report["w"].op) == (Cause.NON_DIFFERENTIABLE, "Floor")
    assert report["w"].cut is not None and report["w"].cut.row == row_of(jacobian, "cut")


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_an_inner_gradient_outside_the_outer_tape_starves_the_second_derivative(compiled: bool) -> None:
    def penalty(w: Any, v: Any) -> Any:
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            loss = tf.reduce_sum(w * w * w * v)
        first = inner.gradient(loss, w)
        size = tf.reduce_sum(first * first)
        return outer.gradient(size, [w, v])

    report = observed(penalty, *w_and_v(), compiled=compiled)

    outer = report.variables[1:]
    assert [(entry.path, entry.verdict, entry.cause) for entry in outer] == [
        ("w", Verdict.NONE, Cause.OUTSIDE_TAPE),
        ("v", Verdict.NONE, Cause.OUTSIDE_TAPE),
    ]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_nameless_variables_are_called_by_the_path_that_leads_to_them(compiled: bool) -> None:
    model = SimpleNamespace(scale=tf.Variable(2.0), parts=[tf.Variable(1.0), tf.Variable(3.0)])

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.round(model.scale) * model.parts[0] * model.parts[1]  # cut
        return tape.gradient(loss, [model.scale, *model.parts])

    with probe.watch() as seen:
        (tf.function(step) if compiled else step)()

    assert seen.report.verdicts == {
        "model.scale": Verdict.NONE,
        "model.parts[0]": Verdict.FLOWS,
        "model.parts[1]": Verdict.FLOWS,
    }


def test_named_variables_keep_their_names() -> None:
    w, v = tf.Variable(2.0, name="width"), tf.Variable(1.0)

    assert observed(rounded, w, v, compiled=False).verdicts == {"width": Verdict.NONE, "v": Verdict.FLOWS}


# The same through `probe.trace`.


def test_trace_names_variables_as_its_caller_does() -> None:
    scale, offset = tf.Variable(1.4), tf.Variable(0.5)

    def loss() -> Any:
        near = scale * 2.0
        return tf.round(near) + offset  # cut

    report = probe.trace(loss)

    assert report.verdicts == {"scale": Verdict.NONE, "offset": Verdict.FLOWS}
    assert (report["scale"].cause, report["scale"].op) == (Cause.NON_DIFFERENTIABLE, "Round")
    assert report["scale"].cut is not None
    assert (report["scale"].cut.filename, report["scale"].cut.row) == (__file__, row_of(loss, "cut"))


def test_trace_names_the_variables_of_an_object_by_its_attributes() -> None:
    class Scaler:
        def __init__(self) -> None:
            self.inner = SimpleNamespace(scale=tf.Variable(1.4))
            self.offset = tf.Variable(0.5)

        def loss(self, x: Any) -> Any:
            return tf.reduce_sum(tf.stop_gradient(self.inner.scale * x) + self.offset)

    scaler = Scaler()

    assert probe.trace(scaler.loss, tf.ones([2])).verdicts == {
        "scaler.inner.scale": Verdict.NONE,
        "scaler.offset": Verdict.FLOWS,
    }


def test_trace_runs_eagerly_what_cannot_be_compiled_and_says_so() -> None:
    w, v = w_and_v()

    def loss() -> Any:
        numbers = np.exp(w.numpy())  # cut
        return tf.reduce_sum(numbers * v)

    report = probe.trace(loss)

    assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.FLOWS}
    assert report["w"].cause is Cause.LEFT_TENSORFLOW
    assert report["w"].cut is not None and report["w"].cut.row == row_of(loss, "cut")
    (note,) = report.notes
    assert "ran eagerly" in note


def test_trace_reports_the_gradients_of_a_training_step_as_the_step_asks_for_them() -> None:
    w, v = w_and_v()

    report = probe.trace(rounded, w, v)

    assert report.verdicts == {"w": Verdict.NONE, "v": Verdict.FLOWS}
    assert report["w"].cut is not None and report["w"].cut.row == row_of(rounded, "cut")


def test_a_report_tells_how_large_a_gradient_is() -> None:
    w = tf.Variable([3.0, -4.0])

    report = probe.trace(lambda: tf.reduce_sum(w * w), variables=[w], steps=3)

    (entry,) = report.variables
    assert (entry.verdict, entry.largest, entry.norm, entry.steps) == (Verdict.FLOWS, 8.0, 10.0, 3)


def test_assert_flows_names_line_and_variables_and_is_silent_about_what_is_allowed() -> None:
    scale, offset = tf.Variable(1.4), tf.Variable(0.5)

    def loss() -> Any:
        return tf.round(scale) + offset  # cut

    report = probe.trace(loss, variables=[scale, offset])

    with pytest.raises(probe.GradientFlowError) as raised:
        report.assert_flows()
    first = str(raised.value).splitlines()[0]
    assert first.startswith(f"{__file__}:{row_of(loss, 'cut')}: `scale` gets None")
    report.assert_flows(allow=["scale"])
    report.assert_flows(allow=["sca*"])
    report.assert_flows(allow=["GL701"])
    report.assert_flows(allow=["none-gradient"])
    with pytest.raises(probe.GradientFlowError):
        report.assert_flows(allow=["offset"])


def test_a_report_can_be_read_as_text_html_and_json() -> None:
    scale = tf.Variable(1.4, name="<scale>")

    def loss() -> Any:
        return tf.round(scale)  # cut

    report = probe.trace(loss)

    assert str(report).splitlines()[0] == "gradients of 1 sources: 1 none"
    assert "non-differentiable" in str(report)
    assert "<td>&lt;scale&gt;</td><td>none</td><td>non-differentiable</td>" in report._repr_html_()
    (finding,) = (each for each in json.loads(report.to_json()) if each["confirmation"] != "not-reached")
    assert (finding["verdict"], finding["cause"], finding["variables"]) == ("none", "non-differentiable", ["<scale>"])
    assert (finding["filename"], finding["location"]["row"]) == (__file__, row_of(loss, "cut"))
