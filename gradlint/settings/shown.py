"""Settings as TOML, for people: `--show-settings`."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from gradlint.settings.definition import Settings, all_settings
from gradlint.text import printable


def as_toml(settings: Settings, path: str) -> str:
    """The settings for a file, as valid TOML; comments tell where each value comes from."""
    return "".join(f"{line}\n" for line in _lines(settings, path))


def _lines(settings: Settings, path: str) -> Iterator[str]:
    yield f"# the settings for {printable(path)}"
    yield f"# read from: {', '.join(settings.files) or 'no file'}"
    root = os.path.abspath(settings.root)
    yield f"# patterns and relative paths are seen from: {printable(root)}"
    origins = dict(settings.origins)
    tables = []
    for key, (name, setting) in all_settings().items():
        value, origin = getattr(settings, name), printable(origins.get(name, "default"))
        written = setting.kind.written(value, root)
        if isinstance(written, Mapping):
            tables.append((key, written, origin))
        elif written is None:
            yield f"# {key} is not set"
        else:
            yield f"{key} = {value_as_toml(written)}  # {origin}"
    for key, table, origin in tables:
        yield ""
        yield f"[{key}]  # {origin}"
        yield from (f"{_key(each)} = {value_as_toml(value)}" for each, value in table.items())


def value_as_toml(value: object) -> str:
    """A value of one setting as TOML."""
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(each)} = {value_as_toml(held)}' for each, held in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(value_as_toml, value))}]"
    # The strings of JSON are strings of TOML, but for DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else value_as_toml(key)
