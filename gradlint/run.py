"""A run over many files: in this process, or spread over several. The order of results never depends on which."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import lru_cache

from gradlint.config import Settings
from gradlint.deep_stack import on_deep_stack
from gradlint.engine import Judged, judge_bytes, judge_file, project_for
from gradlint.flow.project import Project
from gradlint.merging import FileResult, merged
from gradlint.rule import all_rules
from gradlint.run_rules import internal_error

#: Below this many files, starting processes costs more than it saves.
MANY_FILES = 64
#: Up to so many files, as a hook passes them, the programs that lead to them are looked at as well.
FEW_FILES = 20
_CHUNK = 16

Advance = Callable[[int], None]


def check_files(
    files: Sequence[str],
    settings: Settings,
    jobs: int | None,
    advance: Advance,
    standard_input: tuple[bytes, str] | None = None,
) -> list[FileResult]:
    """Judge the files, in the order given, and standard input under a name. `advance` is told how many are done."""
    all_rules()  # before any fork: once for all processes
    if not gc.get_freeze_count():
        gc.freeze()  # modules and rules stay: no collection needs to look at them again
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(files) >= MANY_FILES else 1
    if jobs <= 1 or len(files) <= 1:
        judged = on_deep_stack(_judge_here, files, settings, project_for(settings), advance)
    else:
        by_name = dict(_judge_in_processes(files, settings, jobs, advance))
        judged = [by_name[file] for file in files]
    if standard_input is not None:
        judged.append(_lean(judge_bytes(*standard_input, settings, project_for(settings))))
    return merged(judged, settings, _judge_programs(files, settings) if len(files) <= FEW_FILES else ())


def _judge_programs(files: Sequence[str], settings: Settings) -> list[Judged]:
    """What the programs of the project show that lead to these few files: they say who is called with what."""
    project = project_for(settings)
    programs = project.trained_names.programs_around([os.path.abspath(file) for file in files])
    return on_deep_stack(_judge_here, programs, settings, project, lambda _: None) if programs else []


def _judge_here(files: Sequence[str], settings: Settings, project: Project, advance: Advance) -> list[Judged]:
    results = []
    for file in files:
        results.append(_lean(judge_file(file, settings, project)))
        advance(1)
    return results


def _lean(judged: Judged) -> Judged:
    """Without the decisions, which only `gradlint flow` shows."""
    return replace(judged, decisions=()) if judged.decisions else judged


@lru_cache(maxsize=1)
def _project_of_process(settings: Settings) -> Project:
    """In a process of the pool, trees that one chunk read serve the next."""
    return project_for(settings)


def _judge_chunk(files: Sequence[str], settings: Settings) -> list[Judged]:
    return on_deep_stack(_judge_here, files, settings, _project_of_process(settings), lambda _: None)


def _judge_in_processes(
    files: Sequence[str], settings: Settings, jobs: int, advance: Advance
) -> Iterator[tuple[str, Judged]]:
    # Neighbours are alike in size (tests, data), so every n-th file makes more even chunks than n in a row.
    count = max(jobs, -(-len(files) // _CHUNK))
    chunks = [files[start::count] for start in range(count)]
    lost: list[str] = []
    with ProcessPoolExecutor(min(jobs, count), initializer=_end_on_interrupt) as pool:
        futures: dict[Future[list[Judged]], Sequence[str]] = {
            pool.submit(_judge_chunk, chunk, settings): chunk for chunk in chunks if chunk
        }
        try:
            for future in as_completed(futures):
                try:
                    yield from zip(futures[future], future.result(), strict=True)
                except BrokenProcessPool:
                    lost.extend(futures[future])
                else:
                    advance(len(futures[future]))
        except BaseException:
            # Ended at once and waited for: a pool that is still ending when Python does complains about its pipe.
            for process in multiprocessing.active_children():
                process.terminate()
            pool.shutdown(cancel_futures=True)
            raise
    for file in lost:
        yield file, _judge_alone(file, settings)
        advance(1)


def _judge_alone(file: str, settings: Settings) -> Judged:
    """Judge a file that was with others when their process died: the guilty one is told from the others."""
    with ProcessPoolExecutor(1, initializer=_end_on_interrupt) as pool:
        try:
            return pool.submit(_judge_chunk, [file], settings).result()[0]
        except BrokenProcessPool as error:
            return Judged(file, (internal_error("the process that judged this file", error, file),))


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal; these end without a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
