"""LinkDisplay: activation functions side by side, from a score to a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice import links
from suffice.families.elementary import Array
from suffice.plots.display import Display, legend_below, make_frame
from suffice.plots.palette import styles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

FORMULAE = {
    "logistic": "logistic sigmoid σ(a)",
    "probit": "probit Φ(a)",
    "scaled_probit": "scaled probit Φ(λa), λ² = π/8",
}


@dataclass
class LinkDisplay(Display):
    """y(a) of some activation functions; the logistic sigmoid and the scaled probit unless told.

    Make one with `from_links`.

    Examples
    --------
    >>> from suffice.plots import LinkDisplay
    >>> display = LinkDisplay.from_links()
    >>> display.names
    ['logistic', 'scaled_probit']
    """

    a: Array
    names: list[str]
    y: Array
    """(functions, scores)."""

    @classmethod
    def from_links(
        cls,
        names: Sequence[str] = ("logistic", "scaled_probit"),
        *,
        reach: float = 6.0,
        resolution: int = 241,
    ) -> Self:
        """Evaluate "logistic", "probit" or "scaled_probit" of `suffice.links` from −reach to reach."""
        for name in names:
            if name not in FORMULAE:
                raise ValueError(f"there is no link {name!r}; there are {list(FORMULAE)}.")
        a = np.linspace(-reach, reach, resolution)
        return cls(a, list(names), np.array([getattr(links, name)(a) for name in names]))

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw them on one axes; gives the display."""
        ax = self._start(ax)
        for name, y, look in zip(self.names, self.y, styles(len(self.names)), strict=True):
            ax.plot(self.a, y, color=look.colour, linestyle=look.line, linewidth=2, label=FORMULAE[name])
        ax.set(xlabel="score a", ylabel="probability y", ylim=(-0.03, 1.03))
        legend_below(ax)
        return self

    def to_frame(self) -> Any:
        """One line per score, one field per function."""
        return make_frame({"a": self.a, **dict(zip(self.names, self.y, strict=True))})
