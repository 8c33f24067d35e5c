"""Project: what the files of one run share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gradlint.files.modules import ModuleFinder
from gradlint.flow.sources import Sources
from gradlint.flow.trained_names import TrainedNames


@dataclass(frozen=True, slots=True)
class Project:
    """What the files of one run share: those that were read, and what is known of their names."""

    sources: Sources
    trained_names: TrainedNames

    @classmethod
    def found_by(cls, finder: ModuleFinder, unsaved: Mapping[str, bytes] | None = None) -> Project:
        """A project of which nothing was read yet; `unsaved` takes the place of what is in some files."""
        sources = Sources(finder, unsaved)
        return cls(sources, TrainedNames(sources))
