"""A model of sums as a file holds it: settings, statistics, and the results of searches."""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.estimators.generative import FittedState
from suffice.estimators.settings import settings_from_fields, state_of_settings, with_kept_settings
from suffice.estimators.splits import FittedToSplits
from suffice.factors.bounded import check_bound
from suffice.model.class_weights import ClassWeight, class_weights, reweighted
from suffice.model.columns.presence import Missing, columns_with_presence
from suffice.model.mean_posteriors import HeldOutPosteriors
from suffice.model.priors import Priors, PriorShift, class_priors
from suffice.model.solved.solution import Posterior, check_posterior, solve_from_searches
from suffice.model.statistics import Accumulator, Statistics
from suffice.storage import Fields, SufficeFileError
from suffice.tables.container_words import container_from_fields, state_of_container


class SavedSums(FittedToSplits):
    """Saving and loading, and the checks that settings pass before they are used or saved."""

    priors: Priors
    posterior: Posterior = "plug-in"
    class_weight: ClassWeight = None
    evidence_weight: float | None = None
    missing: Missing = "ignore"
    bound: float | None = None

    @with_kept_settings
    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Refuse priors and weights that do not match the classes."""
        if self.priors is not None:
            class_priors(self.priors, labels, np.ones(len(labels)))
        if self.class_weight is not None:
            class_weights(self.class_weight, labels, np.ones(len(labels)))

    @with_kept_settings
    def _check_scoring(self, names: tuple[Hashable, ...]) -> None:
        """Refuse a kind of score, a weight or columns with presence that there are not."""
        check_posterior(self.posterior)
        w = self.evidence_weight
        if w is not None and not (isinstance(w, Real) and not isinstance(w, bool) and 0 < w < np.inf):
            raise ValueError(f"evidence_weight must be a positive number or None, got {w!r}.")
        check_bound(self.bound)
        self._scored_presence(names)

    def _scored_presence(self, names: tuple[Hashable, ...]) -> NDArray[np.bool_]:
        return columns_with_presence(self.missing, names)

    @with_kept_settings
    def _held_out_posteriors(self) -> HeldOutPosteriors | None:
        """What the posteriors are like on rows held out, unless settings make them others."""
        schema = self._learnt.accumulator.schema
        given = (self.class_weight, self.evidence_weight, self.bound)
        if self.posterior != "plug-in" or self._scored_presence(schema.names).any() or given != (None,) * 3:
            return None
        return schema.held_out

    @with_kept_settings
    def _to_fields(self) -> dict[str, Any]:
        """Everything the model is, as a file holds it: settings, statistics, and the results of searches."""
        solution, container = self._solved_model(), self._learnt.container
        self._check_priors(solution.classes)
        shift = {} if self._learnt.shift is None else {"shift": self._learnt.shift._to_fields()}
        return {
            "settings": state_of_settings(self.get_params(deep=False)),
            "n_features_in": hasattr(self, "n_features_in_"),
            "feature_names_in": hasattr(self, "feature_names_in_"),
            "container": [] if container is None else [state_of_container(container)],
            "statistics": self.statistics_._to_fields(),
            "found": [factor.saved_search() for factor in solution.factors],
            **shift,
        }

    @classmethod
    def _from_fields(cls, fields: Fields) -> Self:
        """Restore a model from a file."""
        model = cls(**settings_from_fields(cls._get_param_names(), fields.branch("settings")))
        statistics = Statistics._from_fields(fields.branch("statistics"))
        schema, accumulator = statistics.schema, Accumulator.of(statistics)
        container = fields.branches("container")
        model._learnt = FittedState(
            accumulator, container_from_fields(container[0], len(schema)) if container else None
        )
        model._keep_settings()
        if fields.flag("n_features_in"):
            model.n_features_in_ = len(schema)
        model._load_names(fields, schema.names if schema.named else None)
        try:
            with np.errstate(all="ignore"):  # sums of a damaged file may overflow
                model._check_loaded(fields)
                if "shift" in fields:
                    model._learnt.shift = PriorShift._from_fields(fields.branch("shift"), model.classes_)
        except SufficeFileError:
            raise
        except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
            raise SufficeFileError(f"the file does not hold a valid {cls.__name__}: {error}") from error
        return model

    def _check_loaded(self, fields: Fields) -> None:
        """Refuse settings and sums that no fitted model has; searches are not repeated."""
        self._chosen_families()
        self._marks()
        self._check_scoring(self._learnt.accumulator.schema.names)
        sums = self._learnt.accumulator.solvable()
        self._check_priors(sums.classes)
        present = reweighted(sums, self.class_weight)
        found = fields.branches("found", len(present.schema.factors))
        self._learnt.saved_searches = solve_from_searches(present, found)
