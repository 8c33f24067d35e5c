"""Where the pages of rules can be read: what `url` in JSON, `helpUri` in SARIF and links on terminals lead to."""

from __future__ import annotations

#: The address that `<CODE>/` is put behind. None is published yet, so no report links to a page.
SITE: str | None = None


def page_of_rule(code: str) -> str | None:
    """The address of the page of a rule; None where there is no site."""
    return f"{SITE}{code}/" if SITE else None
