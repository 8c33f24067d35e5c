"""The packages: `gradlint`, and the top-level folder `rules/` as `gradlint.rules`.

In `pyproject.toml` every family of rules would have to be named; here a new folder is found.
`gradlint/rules` is a link for type checkers only, so it is left out and no file is packed twice.
"""

from setuptools import find_packages, setup

RULES = "gradlint.rules"

setup(
    packages=[
        *find_packages(include=["gradlint", "gradlint.*"], exclude=[RULES, f"{RULES}.*"]),
        RULES,
        *(f"{RULES}.{family}" for family in find_packages("rules")),
    ],
    package_dir={RULES: "rules"},
)
