"""`python -m gradlint`."""

from gradlint.cli.main import main

if __name__ == "__main__":
    main()
