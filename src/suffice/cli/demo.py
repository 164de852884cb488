"""The library on the Palmer penguins, in the terminal: `suffice demo`."""

from __future__ import annotations

import io
from contextlib import nullcontext, redirect_stdout
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from suffice.datasets import load_penguins
from suffice.estimators.bayes import BayesClassifier
from suffice.evaluation.evaluate import Evaluation, evaluate

Labels = NDArray[Any]


def main(*, quiet: bool = False) -> Evaluation:
    """Fit, evaluate, explain, add and subtract, and print all of it unless quiet."""
    with redirect_stdout(io.StringIO()) if quiet else nullcontext():
        return _shown()


def _shown() -> Evaluation:
    X, y = load_penguins()
    gaps = sum(column.null_count for column in X.columns)
    print(f"The Palmer penguins: {X.num_rows} rows, {X.num_columns} columns, {gaps} missing cells.")
    print("The task is to predict the species from the other columns. The table needs no preparation.")

    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    heading(f"Fit {len(y_train)} rows and hold out {len(y_test)}, stratified by species")
    print("Each column gets a family, inferred from its type and its values:\n")
    model = BayesClassifier().fit(train, y_train)
    print(model.schema_)

    heading("Evaluate on the held-out rows")
    evaluation = evaluate(model, test, y_test)
    print(evaluation)

    heading("Explain")
    explained = model.explain(test)
    doubtful = int(np.argmin(model.predict_proba(test).max(axis=1)))
    print("The least certain prediction. Each cell adds to the log odds, in nats (+0.69 doubles the odds),")
    print(f"and the lines add up exactly. (The true species is {y_test[doubtful]}.)\n")
    print(explained.describe(doubtful))
    gappy = first_row_without_measurements(test)
    print("\nA penguin without a single measurement. Missing cells add nothing; the others decide.")
    print(f"(The true species is {y_test[gappy]}.)\n")
    print(explained.describe(gappy))

    heading("Add and subtract")
    show_arithmetic(model, BayesClassifier(families=model.schema_).fit(X, y), test, y_test)
    return evaluation


def heading(text: str) -> None:
    """Begin a part."""
    print(f"\n\n{text}\n{'═' * len(text)}\n")


def first_row_without_measurements(X: Any) -> int:
    """The first row in which every measurement in millimetres or grams is missing."""
    measured = [name for name in X.column_names if name.endswith(("_mm", "_g"))]
    missing = np.all([X[name].is_null().to_numpy() for name in measured], axis=0)
    return int(np.argmax(missing))


def show_arithmetic(model: BayesClassifier, whole: BayesClassifier, test: Any, y_test: Labels) -> None:
    """A model plus the rest is the whole, and the whole minus the rest is the model."""
    rest = BayesClassifier(families=model.schema_).fit(test, y_test)
    known = model.statistics_
    print(f"The model keeps nothing of its {known.n_rows} rows but {known.nbytes} bytes of sums.")
    print(f"They add: the model plus a model of the {len(y_test)} held-out rows is the model of all rows;")
    print(f"  {difference(model + rest, whole, test)}.")
    print("They subtract: the model of all rows, after forgetting the held-out ones, is the model again;")
    print(f"  {difference(whole.forget(test, y_test), model, test)}.")


def difference(a: BayesClassifier, b: BayesClassifier, X: Any) -> str:
    """How far apart two models are."""
    return f"posteriors differ by at most {np.abs(a.predict_proba(X) - b.predict_proba(X)).max():.0e}"
