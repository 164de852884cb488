"""The linear form of generative models: natural parameters, weights of u(x), and boundaries."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from suffice.arrays import Array
from suffice.estimators.base import refused_as_absent
from suffice.estimators.boundary import Boundary, log_odds_at, two_classes
from suffice.estimators.scored import Scored
from suffice.model.solved.linear_form import (
    LinearForm,
    NaturalParameters,
    linear_form,
    natural_forms,
    natural_parameters,
)
from suffice.tables.container import PLAIN


class LinearInStatistics(Scored):
    """A model of exponential families, whose scores are linear in u(x)."""

    @property
    def natural_parameters_(self) -> dict[Any, NaturalParameters]:
        """λ_k and ln g(λ_k) by column, or by the tuple of columns that have one distribution together.

        The parameters are those of log p(x | C_k) = λ_kᵀu(x) + ln g(λ_k) + log h(x), with u(x) as books write
        it. An error says why if the scores of some column are not linear in a u(x).
        """
        with refused_as_absent():
            return natural_parameters(self._solved_model())

    def linear_form(self) -> LinearForm:
        """The scores as linear functions of u(x): a_k(x) = w_kᵀu(x) + w_k0, up to a term without k.

        They are there if every column has an exponential family: w_k = λ_k and w_k0 = ln g(λ_k) + ln p(C_k),
        summed over the columns.

        Returns
        -------
        form : LinearForm
            The weights `w` and `w0`, and u(x) of any rows. An error says why if the scores of some column are
            not linear in a u(x), as those of Histogram, Steps and Hurdle, and posterior predictives.
        """
        solved = self._solved_model()
        container = self._learnt.container or PLAIN
        return linear_form(solved, lambda X: solved.schema.blocks(self._read(X, reset=False)), container)

    def boundary(self, label: Any, against: Any, threshold: float = 0.5) -> Boundary:
        """The surface on which `label` has the posterior `threshold`, of these two classes only.

        Parameters
        ----------
        label : label
            A class.
        against : label
            The class it is compared with.
        threshold : float, default=0.5
            The posterior of `label` on the surface, strictly between 0 and 1: log odds of logit(threshold).
            It moves the surface in parallel, as other priors do, and changes w₀ only.

        Returns
        -------
        boundary : Boundary
            The surface xᵀQx + wᵀx + w₀ = 0 if u(x) consists of x and products of two columns, otherwise the
            hyperplane wᵀu + w₀ = 0 of u(x).
        """
        known = self.classes_.tolist()
        i, j = two_classes(known, label, against)
        shift = log_odds_at(threshold)
        solved = self._solved_model()
        forms = natural_forms(solved, about=i)
        if all(form.powers is not None for _, form in forms):
            return self._in_columns(i, j, shift)
        form = self.linear_form()
        w = form.w[i] - form.w[j]
        level = float(form.w0[i] - form.w0[j]) - shift
        nothing = np.zeros((0, 0))
        return Boundary(known[i], known[j], nothing, np.zeros(len(w)), w, level, form.statistics, form.u)

    def _in_columns(self, i: int, j: int, shift: float) -> Boundary:
        """The boundary in the columns, about a value near the first class."""
        solved = self._solved_model()
        d = len(solved.schema)
        Q, centre, slope = np.zeros((d, d)), np.zeros(d), np.zeros(d)
        level = 0.0
        for f, form in natural_forms(solved, about=i):
            columns = solved.schema.factors[f].columns
            centre[columns[list(form.columns)]] = form.origin
            difference = np.where(form.shared, 0.0, form.natural[i] - form.natural[j])
            level += float(form.log_g[i] - form.log_g[j])
            for value, places in zip(difference.tolist(), form.powers or (), strict=True):
                at = columns[list(places)]
                if len(at) == 1:
                    slope[at[0]] += value
                else:
                    Q[at[0], at[1]] += 0.5 * value
                    Q[at[1], at[0]] += 0.5 * value
        used = self._used_columns()
        weight, offset = solved.evidence_weight, solved.offset
        return Boundary(
            solved.classes.tolist()[i],
            solved.classes.tolist()[j],
            weight * Q[np.ix_(used, used)],
            centre[used],
            weight * slope[used],
            weight * level + float(offset[i] - offset[j]) - shift,
            tuple(solved.schema.names[c] for c in used) if solved.schema.named else None,
            partial(self._numbers, columns=used),
        )

    def _numbers(self, X: Any, columns: list[int]) -> Array:
        """Some columns of rows as numbers, read as the model reads them."""
        table = self._solved_model().schema.read(self._read(X, reset=False))
        return np.asarray(table.numbers(columns), dtype=np.float64)

    def _used_columns(self) -> list[int]:
        """The columns that a boundary is written in: those with a family, or all of an array."""
        schema = self._solved_model().schema
        if not schema.named:
            return list(range(len(schema)))
        return sorted(int(c) for factor in schema.factors for c in factor.columns)
