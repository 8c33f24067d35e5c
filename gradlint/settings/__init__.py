"""Settings: which there are (`definition.py`), how they are read from files and options, and which hold for a file.

The rest of gradlint imports what it needs from `gradlint.config`.
"""
