"""The best of some settings, of which each is tried only if the one before it paid."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Setting = TypeVar("Setting")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Best(Generic[Setting, Found]):
    """A setting, what was found with it, and the loss of held-out rows by that."""

    setting: Setting
    found: Found
    loss: float

    def while_it_pays(
        self, settings: Iterable[Setting], judged: Callable[[Setting, Found], tuple[Found, float]]
    ) -> Best[Setting, Found]:
        """The last of some settings of which each lowers the loss, or this one.

        Each search begins with what was found before it.
        """
        best = self
        for setting in settings:
            found, loss = judged(setting, best.found)
            if loss >= best.loss:
                break
            best = Best(setting, found, loss)
        return best
