"""How files of text are written: what separates cells, what stands for a missing one."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

MISSING = (
    *("", "NA", "N/A", "n/a", "#NA", "#N/A", "#N/A N/A", "NULL", "null", "NaN", "nan", "-NaN", "-nan"),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""What stands for a missing cell in csv and tsv files, unless other texts are chosen."""
DECIMALS = (".", ",")


@dataclass(frozen=True)
class ReadingOptions:
    """How files of text are read.

    Marks of missing cells hold in every format, an encoding in csv, tsv and jsonl, the others in csv and tsv.

    Parameters
    ----------
    missing : tuple of str, optional
        The texts that stand for a missing cell, besides empty ones; by default `MISSING` in csv and tsv, and
        none in other formats.
    sep : str, optional
        The character between cells, or "tab"; by default a comma in csv and a tab in tsv.
    decimal : {".", ","}
        What separates the decimals of a number; it must not separate cells. Where it is a comma, points may
        separate thousands, if that is beyond doubt, as in 1.234,5 or 1.234.567. Such a column may also hold
        1.234; in others, any number with a point is refused.
    encoding : str
        The encoding of the characters, by any name that Python knows.
    """

    missing: tuple[str, ...] | None = None
    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.sep in ("tab", r"\t"):
            object.__setattr__(self, "sep", "\t")
        if self.sep is not None and (len(self.sep) != 1 or not self.sep.isascii() or self.sep in '"\r\n\0'):
            raise ValueError(
                f"sep must be one ASCII character, and no quote or line break, but is {self.sep!r}."
            )
        if self.decimal not in DECIMALS:
            raise ValueError(f"decimal must be '.' or ',', but is {self.decimal!r}.")
        if self.sep == self.decimal:
            raise ValueError(f"sep {self.sep!r} also separates decimals; choose another for one of them.")
        try:
            b" ".decode(self.encoding, "ignore")
            codecs.getincrementaldecoder(self.encoding)
        except (LookupError, ValueError) as error:
            raise ValueError(
                f"encoding {self.encoding!r} is not known; name one such as utf-8, latin-1, cp1252 or utf-16."
            ) from error

    def separator(self, form: str) -> str:
        """The character between the cells of a file in a format."""
        if self.sep is not None:
            return self.sep
        return "\t" if form == "tsv" else ","

    @property
    def marks(self) -> tuple[str, ...]:
        """The chosen texts of missing cells, also behind a space, as after a comma."""
        chosen = self.missing or ()
        return ("", *chosen, *(f" {mark}" for mark in chosen))

    @property
    def is_utf8(self) -> bool:
        """Whether the bytes of a file are UTF-8."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")


DEFAULTS = ReadingOptions()
