"""A run over many files: in this process, spread over several, or on the caller's own executor.

The order of results never depends on which. `api.py` and `cli/check.py` ask; whoever asks is left as he was: no pool
but the own one is shut down, and no process but those of the own one is ended.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import count

from gradlint.config import Settings, SettingsByFile
from gradlint.deep_stack import on_deep_stack
from gradlint.engine import Judged, judge_bytes, judge_file, project_for
from gradlint.files.discovery import Discovered
from gradlint.flow.project import Project
from gradlint.merging import FileResult, merged
from gradlint.rule import all_rules
from gradlint.run_rules import internal_error, unreadable

#: Below this many files, starting processes costs more than it saves.
MANY_FILES = 64
#: Up to so many files, as a hook passes them, the programs that lead to them are looked at as well.
FEW_FILES = 20
_CHUNK = 16
#: Standard input without a name: nobody imports it.
_NAMELESS = "-"

Advance = Callable[[int], None]


def _tell_nobody(_: int) -> None:
    pass


def check_found(
    found: Discovered,
    settings: SettingsByFile,
    jobs: int | None,
    advance: Advance = _tell_nobody,
    standard_input: tuple[bytes, str] | None = None,
    executor: Executor | None = None,
) -> list[FileResult]:
    """Judge the files that were found, and standard input under a name; results in the order of their names.

    A folder that could not be read counts as a file with one finding. `advance` is told how many files are done.
    """
    results = check_files(found.files, settings, jobs, advance, standard_input, executor)
    for folder in found.unreadable:
        finding = unreadable(folder.reason, folder.path)
        of_folder = settings.for_folder(os.path.dirname(folder.path))
        if finding.code in of_folder.selected_in(folder.path):
            results.append(FileResult(folder.path, (of_folder.with_severity(finding),)))
    return sorted(results, key=lambda result: result.filename)


def freeze_what_stays() -> None:
    """Take modules and rules, which stay, out of garbage collection: for a process that is ours alone."""
    all_rules()
    if not gc.get_freeze_count():
        gc.freeze()


def check_files(
    files: Sequence[str],
    settings: SettingsByFile,
    jobs: int | None,
    advance: Advance,
    standard_input: tuple[bytes, str] | None = None,
    executor: Executor | None = None,
) -> list[FileResult]:
    """Judge the files, in the order given, and standard input under a name."""
    names = [*files, standard_input[1]] if standard_input is not None else files
    unsaved = {os.path.abspath(standard_input[1]): standard_input[0]} if standard_input is not None else {}
    groups = _Groups.of(names, settings, unsaved)
    all_rules()  # before any fork: once for all processes
    if jobs is None:
        jobs = (os.cpu_count() or 1) if len(files) >= MANY_FILES else 1
    if executor is not None:
        by_name = dict(_judge_on(executor, files, groups))
        judged = [by_name[file] for file in files]
    elif jobs <= 1 or len(files) <= 1:
        judged = on_deep_stack(_judge_here, files, groups, _Projects(unsaved), advance)
    else:
        judged = _judge_spread(files, groups, jobs, advance)
    if standard_input is not None:
        under = groups.of_file[standard_input[1]]
        judged.append(judge_bytes(*standard_input, under, project_for(under, unsaved), is_asked=True))
    named = [name for name in names if name != _NAMELESS]
    return merged(judged, settings, _judge_programs(named, groups) if len(named) <= FEW_FILES else ())


@dataclass(frozen=True, slots=True)
class _Groups:
    """Under which settings each file is judged: those of the file, with every rule that is on in any file of the run.

    What is found in one file may stand in another one, whose settings decide: when all is merged.
    """

    of_file: dict[str, Settings]
    unsaved: dict[str, bytes]
    """What takes the place of the contents of some files, by absolute path: standard input."""

    @classmethod
    def of(cls, files: Sequence[str], settings: SettingsByFile, unsaved: dict[str, bytes]) -> _Groups:
        found = {file: settings.for_file(file) for file in files}
        distinct = {id(each): each for each in found.values()}
        rules = frozenset(code for each in distinct.values() for code in each.selected)
        under = {key: each if each.selected == rules else each.with_codes(rules) for key, each in distinct.items()}
        return cls({file: under[id(each)] for file, each in found.items()}, unsaved)

    def with_files(self, files: Sequence[str]) -> _Groups:
        """Of these files alone: what is sent to a process."""
        return _Groups({file: self.of_file[file] for file in files}, self.unsaved)


class _Projects:
    """One project for each settings, so that trees that one file had read serve the next."""

    def __init__(self, unsaved: Mapping[str, bytes]) -> None:
        self._unsaved = unsaved
        self._made: dict[Settings, Project] = {}
        self._last: tuple[Settings, Project] | None = None

    def of(self, settings: Settings) -> Project:
        if self._last is None or self._last[0] is not settings:  # saves hashing the same settings per file
            if settings not in self._made:
                self._made[settings] = project_for(settings, self._unsaved)
            self._last = settings, self._made[settings]
        return self._last[1]


def _judge_programs(files: Sequence[str], groups: _Groups) -> list[Judged]:
    """What the programs of the project show that lead to these few files: they say who is called with what."""
    projects = _Projects(groups.unsaved)
    programs: dict[str, Settings] = {}
    for settings in dict.fromkeys(groups.of_file.values()):
        among = [os.path.abspath(file) for file in files if groups.of_file[file] == settings]
        for program in projects.of(settings).trained_names.programs_around(among):
            if program not in groups.unsaved:
                programs.setdefault(program, settings)
    if not programs:
        return []
    return on_deep_stack(_judge_here, tuple(programs), _Groups(programs, groups.unsaved), projects, _tell_nobody)


def _judge_here(files: Sequence[str], groups: _Groups, projects: _Projects, advance: Advance) -> list[Judged]:
    results = []
    for file in files:
        settings = groups.of_file[file]
        results.append(judge_file(file, settings, projects.of(settings)))
        advance(1)
    return results


class _Threads:
    """The projects of each thread of this process: trees that one chunk of a run read serve the next, none after it."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[str, _Projects]] = {}

    def projects(self, run: str, unsaved: Mapping[str, bytes]) -> _Projects:
        thread = threading.get_ident()
        kept = self._kept.get(thread)
        if kept is None or kept[0] != run:
            kept = self._kept[thread] = (run, _Projects(unsaved))
        return kept[1]

    def forget(self, run: str) -> None:
        for thread, kept in list(self._kept.items()):
            if kept[0] == run:
                del self._kept[thread]


_threads = _Threads()
_runs = count()


def _judge_chunk(files: Sequence[str], groups: _Groups, run: str) -> list[Judged]:
    return on_deep_stack(_judge_here, files, groups, _threads.projects(run, groups.unsaved), _tell_nobody)


def _name_run() -> str:
    """A name that no other run has: files may change between two runs on one pool."""
    return f"{os.getpid()}-{next(_runs)}"


def _chunks(files: Sequence[str], at_least: int) -> list[Sequence[str]]:
    # Neighbours are alike in size (tests, data), so every n-th file makes more even chunks than n in a row.
    number = max(at_least, -(-len(files) // _CHUNK))
    return [chunk for start in range(number) if (chunk := files[start::number])]


def _judge_on(executor: Executor, files: Sequence[str], groups: _Groups) -> Iterator[tuple[str, Judged]]:
    """On an executor of somebody else, by nothing but `submit`; it is neither shut down nor left with work of ours."""
    run = _name_run()
    futures: list[tuple[Future[list[Judged]], Sequence[str]]] = []
    lost: list[str] = []
    try:
        for chunk in _chunks(files, os.cpu_count() or 1):
            try:
                futures.append((executor.submit(_judge_chunk, chunk, groups.with_files(chunk), run), chunk))
            except BrokenExecutor:
                lost.extend(chunk)
        for future, chunk in futures:
            try:
                yield from zip(chunk, future.result(), strict=True)
            except BrokenExecutor:
                lost.extend(chunk)
    finally:
        for future, _ in futures:
            future.cancel()
        _threads.forget(run)
    for file in lost:
        yield file, _judge_alone(file, groups)


def _judge_spread(files: Sequence[str], groups: _Groups, jobs: int, advance: Advance) -> list[Judged]:
    """In several processes, or in this one where the system gives no more processes, pipes or files."""
    try:
        by_name = dict(_judge_in_processes(files, groups, jobs, advance))
    except OSError:
        return on_deep_stack(_judge_here, files, groups, _Projects(groups.unsaved), _tell_nobody)
    return [by_name[file] for file in files]


def _judge_in_processes(
    files: Sequence[str], groups: _Groups, jobs: int, advance: Advance
) -> Iterator[tuple[str, Judged]]:
    chunks = _chunks(files, jobs)
    lost: list[str] = []
    run = _name_run()
    with ProcessPoolExecutor(min(jobs, len(chunks)), initializer=_end_on_interrupt) as pool:
        try:
            futures: dict[Future[list[Judged]], Sequence[str]] = {
                pool.submit(_judge_chunk, chunk, groups.with_files(chunk), run): chunk for chunk in chunks
            }
            for future in as_completed(futures):
                try:
                    yield from zip(futures[future], future.result(), strict=True)
                except BrokenProcessPool:
                    lost.extend(futures[future])
                else:
                    advance(len(futures[future]))
        except BaseException:
            # Ended at once and waited for: a pool that is still ending when Python does complains about its pipe.
            _terminate_workers(pool)
            pool.shutdown(cancel_futures=True)
            raise
    for file in lost:
        yield file, _judge_alone(file, groups)
        advance(1)


def _terminate_workers(pool: ProcessPoolExecutor) -> None:
    if sys.version_info >= (3, 14):
        pool.terminate_workers()
        return
    for process in list((pool._processes or {}).values()):
        process.terminate()


def _judge_alone(file: str, groups: _Groups) -> Judged:
    """Judge a file that was with others when their process died: the guilty one is told from the others."""
    with ProcessPoolExecutor(1, initializer=_end_on_interrupt) as pool:
        try:
            return pool.submit(_judge_chunk, [file], groups.with_files([file]), _name_run()).result()[0]
        except BrokenProcessPool as error:
            failed = internal_error("the process that judged this file", error, file)
            return Judged(file, (failed,), in_part=True, died=True)


def _end_on_interrupt() -> None:
    """Ctrl-C reaches every process of the terminal; these end without a traceback each."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
