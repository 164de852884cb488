"""A page as one file: a template, its style and its script, and the data, none of which can become markup."""

from __future__ import annotations

import base64
import hashlib
import html
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from suffice.export.javascript import literal
from suffice.storage.saved import replacing
from suffice.tables.wording import printable


@dataclass(frozen=True)
class Page:
    """A self-contained page of HTML; `suffice.report` makes one.

    Attributes
    ----------
    html : str
        The whole page.
    data : dict
        What the page shows, as plain values.

    Examples
    --------
    >>> import suffice
    >>> X, species = suffice.load_penguins()
    >>> model = suffice.BayesClassifier().fit(X, species)
    >>> page = suffice.report(model, X, species)
    >>> page.data["classes"]
    ['Adelie', 'Chinstrap', 'Gentoo']
    """

    html: str
    data: dict[str, Any]

    def save(self, path: Any) -> None:
        """Write the page to a file, which it replaces once it is complete.

        Parameters
        ----------
        path : path
            The file, such as "report.html".
        """
        with replacing(str(path)) as file:
            file.write(self.html.encode())

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 720px; border: 1px solid #8884"></iframe>'
        )

    def __repr__(self) -> str:
        rows = self.data["rows"]["all"]
        return f"Page about {rows:,} rows, {len(self.html.encode()) / 1e3:,.0f} kB; page.save('report.html')"


def page_of(data: dict[str, Any], code: str | None) -> Page:
    """The page that shows some data, with a model as a program if there is one."""
    style, script = _asset("page.css"), _asset("page.js")
    model = f"window.sufficeModel = {code};" if code is not None else "window.sufficeModel = null;"
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(model)} {_hash(script)}",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    filled = {
        "policy": policy,
        "title": html.escape(printable(data["title"])),
        "style": style,
        "data": literal(data),
        "model": model,
        "script": script,
    }
    # Split, not replaced in turn: what is filled in may itself hold a mark.
    pieces = _asset("page.html").split("%%")
    return Page("".join(filled[piece] if i % 2 else piece for i, piece in enumerate(pieces)), data)


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _asset(name: str) -> str:
    return files("suffice.reports").joinpath(name).read_text(encoding="utf-8")
