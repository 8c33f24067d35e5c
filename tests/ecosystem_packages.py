"""The pinned packages that `ecosystem.py`, `mutants.py` and the benchmarks read: downloaded once, unpacked, listed.

Nothing of them is installed or imported.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = "GRADLINT_ECOSYSTEM"
PINS = {
    "adversarial-robustness-toolbox": "1.20.1",
    "alibi-detect": "0.13.0",
    "cleverhans": "4.0.0",
    "ddsp": "3.7.0",
    "deepchem": "2.8.0",
    "deepxde": "1.15.0",
    "dm-sonnet": "2.0.2",
    "edward2": "0.0.2",
    "gpflow": "2.11.2",
    "keras": "3.15.1",
    "keras-hub": "0.32.0",
    "larq": "0.14.0",
    "spektral": "1.3.1",
    "tensorflow-privacy": "0.9.0",
    "tensorflow-probability": "0.25.0",
    "tensorflow-recommenders": "0.7.7",
    "tensorlayer": "2.2.5",
    "tf-agents": "0.19.0",
    "tf-models-official": "2.20.0",
}


@dataclass(frozen=True, slots=True)
class Package:
    """An unpacked package: its files lie below `folder`."""

    name: str
    folder: Path

    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.py") if path.is_file())

    def tape_files(self) -> list[Path]:
        return [path for path in self.files() if b"GradientTape(" in path.read_bytes()]


def cache_folder(given: str | None = None) -> Path:
    """Where the packages lie: as given, as the environment says, or `build/ecosystem`."""
    return Path(given or os.environ.get(ENVIRONMENT) or ROOT / "build" / "ecosystem").resolve()


def packages(cache: Path, only: Sequence[str] = ()) -> Iterator[Package]:
    """The pinned packages (or those alone) in alphabetical order, downloaded when they are not there yet."""
    for name in only:
        if name not in PINS:
            raise SystemExit(f"no package {name!r}; known: {', '.join(sorted(PINS))}")
    for name, version in sorted(PINS.items()):
        if only and name not in only:
            continue
        if not (cache / name).is_dir():
            _unpack(_download(name, version, cache / ".wheels"), cache / name)
        yield Package(name, cache / name)


def _download(name: str, version: str, folder: Path) -> Path:
    found = _archive(name, version, folder)
    if found is None:
        print(f"downloading {name} {version}", file=sys.stderr)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:none:"]
        subprocess.run([*command, "--dest", str(folder), f"{name}=={version}"], check=True)
        found = _archive(name, version, folder)
    if found is None:
        raise FileNotFoundError(f"{folder}: pip left no archive of {name} {version}")
    return found


def _archive(name: str, version: str, folder: Path) -> Path | None:
    normal = f"{name}-{version}".lower().replace("_", "-")
    for path in sorted(folder.glob("*")):
        if path.name.lower().replace("_", "-").startswith((f"{normal}-", f"{normal}.tar", f"{normal}.zip")):
            return path
    return None


def _unpack(archive: Path, folder: Path) -> None:
    """Into a folder beside it first, so that an interrupted run leaves no half of a package."""
    partial = folder.with_name(f".{folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as tar:
            tar.extractall(partial, filter="data")
    else:
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(partial)
    partial.rename(folder)
