"""Settings, as the rest of gradlint sees them: their values, and which hold for a file.

How they are read from files and options is told in `gradlint/settings/`.
"""

from __future__ import annotations

from gradlint.settings.definition import Settings, SettingsByFile
from gradlint.settings.hierarchy import Choices, Hierarchy, load_settings, settings_from

__all__ = ["Choices", "Hierarchy", "Settings", "SettingsByFile", "load_settings", "settings_from"]
