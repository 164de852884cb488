"""What a file holds of a fitted model: its settings, its sums, and the results of searches."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.estimators.generative import FittedState
from suffice.estimators.settings import settings_from_fields, state_of_settings, with_kept_settings
from suffice.estimators.splits import FittedToSplits
from suffice.model.priors import PriorShift
from suffice.model.statistics import Accumulator, Statistics
from suffice.storage import Fields, SufficeFileError
from suffice.tables.container_words import container_from_fields, state_of_container


class SavedModel(FittedToSplits):
    """A model that a file holds; loading it solves nothing that took a search."""

    def _check_priors(self, labels: NDArray[Any]) -> None:
        """Refuse priors that do not match the classes."""
        raise NotImplementedError

    def _check_loaded(self, fields: Fields) -> None:
        """Refuse settings and sums that no fitted model has; searches are not repeated."""
        raise NotImplementedError

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
