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

from gradlint.config import Settings
from gradlint.deep_stack import on_deep_stack
from gradlint.engine import FileResult, check_file
from gradlint.rule import all_rules
from gradlint.run_rules import internal_error

#: Below this many files, starting processes costs more than it saves.
MANY_FILES = 64
_CHUNK = 16

Advance = Callable[[int], None]


def check_files(files: Sequence[str], settings: Settings, jobs: int | None, advance: Advance) -> list[FileResult]:
    """Judge the files, in the order given. `advance` is told how many files were done since it was last called."""
    all_rules()  # before any fork: once for all processes
    if not gc.get_freeze_count():
        gc.freeze()  # modules and rules stay: no collection needs to look at them again
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(files) >= MANY_FILES else 1
    if jobs <= 1 or len(files) <= 1:
        return on_deep_stack(_check_here, files, settings, advance)
    by_name = dict(_check_in_processes(files, settings, jobs, advance))
    return [by_name[file] for file in files]


def _check_here(files: Sequence[str], settings: Settings, advance: Advance) -> list[FileResult]:
    results = []
    for file in files:
        results.append(_lean(check_file(file, settings)))
        advance(1)
    return results


def _lean(result: FileResult) -> FileResult:
    """Without the decisions, which only `gradlint flow` shows."""
    return replace(result, decisions=()) if result.decisions else result


def _check_chunk(files: Sequence[str], settings: Settings) -> list[FileResult]:
    return on_deep_stack(_check_here, files, settings, lambda _: None)


def _check_in_processes(
    files: Sequence[str], settings: Settings, jobs: int, advance: Advance
) -> Iterator[tuple[str, FileResult]]:
    # Neighbours are alike in size (tests, data), so every n-th file makes more even chunks than n in a row.
    count = max(jobs, -(-len(files) // _CHUNK))
    chunks = [files[start::count] for start in range(count)]
    lost: list[str] = []
    with ProcessPoolExecutor(min(jobs, count), initializer=_end_on_interrupt) as pool:
        futures: dict[Future[list[FileResult]], Sequence[str]] = {
            pool.submit(_check_chunk, chunk, settings): chunk for chunk in chunks if chunk
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
        yield file, _check_alone(file, settings)
        advance(1)


def _check_alone(file: str, settings: Settings) -> FileResult:
    """Judge a file that was with others when their process died: the guilty one is told from the others."""
    with ProcessPoolExecutor(1, initializer=_end_on_interrupt) as pool:
        try:
            return pool.submit(_check_chunk, [file], settings).result()[0]
        except BrokenProcessPool as error:
            return FileResult(file, (internal_error("the process that judged this file", error, file),))


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal; these end without a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
