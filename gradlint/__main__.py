"""`python -m gradlint`."""

import os
import sys

# Python puts the working folder first: a `copy.py` of the checked project would be imported, that is, run.
# Nothing but what Python imports to start is imported before this: `gradlint/__init__.py` is run first.
try:
    folder = os.getcwd()
    if sys.path and os.path.abspath(sys.path[0] or ".") == folder and not __file__.startswith(folder + os.sep):
        del sys.path[0]
except FileNotFoundError:  # it was deleted: nothing can be imported from there
    pass

from gradlint.cli.main import main

if __name__ == "__main__":
    main()
