"""The one exception that stands for "the run itself failed": printed by `cli/` in one line, exit status 2."""


class RunError(Exception):
    """A bad option, setting or path. The message names the place, quotes the value, and takes one line."""
