"""`python -m gradlint`."""

import os
import sys

# Python puts the working folder first: a `copy.py` of the checked project would be imported, that is, run.
if sys.path and os.path.abspath(sys.path[0] or ".") == os.getcwd() and not __file__.startswith(os.getcwd() + os.sep):
    del sys.path[0]

from gradlint.cli.main import main

if __name__ == "__main__":
    main()
