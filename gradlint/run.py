"""A run over many files: in this process, or spread over several. The order of results never depends on which."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache

from gradlint.config import Settings, SettingsByFile
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
    settings: SettingsByFile,
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
    names = [*files, standard_input[1]] if standard_input is not None else files
    groups = _Groups.of(names, settings)
    if jobs <= 1 or len(files) <= 1:
        judged = on_deep_stack(_judge_here, files, groups, _Projects(), advance)
    else:
        by_name = dict(_judge_in_processes(files, groups, jobs, advance))
        judged = [by_name[file] for file in files]
    if standard_input is not None:
        under = groups.of_file[standard_input[1]]
        judged.append(_lean(judge_bytes(*standard_input, under, project_for(under))))
    return merged(judged, settings, _judge_programs(files, groups) if len(files) <= FEW_FILES else ())


@dataclass(frozen=True, slots=True)
class _Groups:
    """Under which settings each file is judged: those of the file, with every rule that is on in any file of the run.

    What is found in one file may stand in another one, whose settings decide: when all is merged.
    """

    of_file: dict[str, Settings]

    @classmethod
    def of(cls, files: Sequence[str], settings: SettingsByFile) -> _Groups:
        found = {file: settings.for_file(file) for file in files}
        distinct = {id(each): each for each in found.values()}
        rules = frozenset(code for each in distinct.values() for code in each.selected)
        under = {key: each if each.selected == rules else each.with_codes(rules) for key, each in distinct.items()}
        return cls({file: under[id(each)] for file, each in found.items()})

    def with_files(self, files: Sequence[str]) -> _Groups:
        """Of these files alone: what is sent to a process."""
        return _Groups({file: self.of_file[file] for file in files})


class _Projects:
    """One project for each settings, so that trees that one file had read serve the next."""

    def __init__(self) -> None:
        self._made: dict[Settings, Project] = {}
        self._last: tuple[Settings, Project] | None = None

    def of(self, settings: Settings) -> Project:
        if self._last is None or self._last[0] is not settings:  # saves hashing the same settings per file
            if settings not in self._made:
                self._made[settings] = project_for(settings)
            self._last = settings, self._made[settings]
        return self._last[1]


def _judge_programs(files: Sequence[str], groups: _Groups) -> list[Judged]:
    """What the programs of the project show that lead to these few files: they say who is called with what."""
    projects = _Projects()
    programs: dict[str, Settings] = {}
    for settings in dict.fromkeys(groups.of_file.values()):
        among = [os.path.abspath(file) for file in files if groups.of_file[file] == settings]
        for program in projects.of(settings).trained_names.programs_around(among):
            programs.setdefault(program, settings)
    if not programs:
        return []
    return on_deep_stack(_judge_here, tuple(programs), _Groups(programs), projects, lambda _: None)


def _judge_here(files: Sequence[str], groups: _Groups, projects: _Projects, advance: Advance) -> list[Judged]:
    results = []
    for file in files:
        settings = groups.of_file[file]
        results.append(_lean(judge_file(file, settings, projects.of(settings))))
        advance(1)
    return results


def _lean(judged: Judged) -> Judged:
    """Without the decisions, which only `gradlint flow` shows."""
    return replace(judged, decisions=()) if judged.decisions else judged


@cache
def _projects_of_process() -> _Projects:
    """In a process of the pool, trees that one chunk read serve the next."""
    return _Projects()


def _judge_chunk(files: Sequence[str], groups: _Groups) -> list[Judged]:
    return on_deep_stack(_judge_here, files, groups, _projects_of_process(), lambda _: None)


def _judge_in_processes(
    files: Sequence[str], groups: _Groups, jobs: int, advance: Advance
) -> Iterator[tuple[str, Judged]]:
    # Neighbours are alike in size (tests, data), so every n-th file makes more even chunks than n in a row.
    count = max(jobs, -(-len(files) // _CHUNK))
    chunks = [files[start::count] for start in range(count)]
    lost: list[str] = []
    with ProcessPoolExecutor(min(jobs, count), initializer=_end_on_interrupt) as pool:
        futures: dict[Future[list[Judged]], Sequence[str]] = {
            pool.submit(_judge_chunk, chunk, groups.with_files(chunk)): chunk for chunk in chunks if chunk
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
        yield file, _judge_alone(file, groups)
        advance(1)


def _judge_alone(file: str, groups: _Groups) -> Judged:
    """Judge a file that was with others when their process died: the guilty one is told from the others."""
    with ProcessPoolExecutor(1, initializer=_end_on_interrupt) as pool:
        try:
            return pool.submit(_judge_chunk, [file], groups.with_files([file])).result()[0]
        except BrokenProcessPool as error:
            return Judged(file, (internal_error("the process that judged this file", error, file),))


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal; these end without a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
