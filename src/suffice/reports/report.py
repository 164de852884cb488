"""Make a page: ask models about labelled rows, and gather what the page shows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from suffice.arrays import Array
from suffice.estimators.other_priors import priors_of
from suffice.estimators.scored import Scored
from suffice.estimators.text import TextClassifier
from suffice.evaluation.evaluate import Evaluation
from suffice.reports.columns import gains, pictures, schema
from suffice.reports.notable import notable_rows
from suffice.reports.page import Page, page_of
from suffice.reports.passing import NamedModel, PassingRows
from suffice.reports.what_if import what_if
from suffice.reports.words import fewer_digits, packed, shown
from suffice.storage.saved import versions
from suffice.tables.table import take_rows
from suffice.tables.targets import checked_weights, labelled, read_labels

MOST_BYTES = 1_000_000
MOST_WORDS = 15
MOST_WORD_CLASSES = 30
"""Classes whose words are listed."""


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    compared: Mapping[str, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    rows: bool = True,
    title: str | None = None,
    random_state: int = 0,
) -> Page:
    """Write one page about a fitted classifier and labelled rows: a self-contained HTML file.

    The page shows how good the model is, what it learnt of each column, why it decides as it does, and what
    changes under other priors, costs and thresholds of refusing. It carries the scores of at most 5,000 rows,
    drawn at random, and needs no network.

    Parameters
    ----------
    model : classifier
        A fitted classifier with `predict_proba`. Sections that need more than posteriors are left out for
        models of other libraries.
    X : array-like or frame of shape (n_samples, n_features)
        The rows, in any container that the model takes; best rows that it was not fitted to.
    y : array-like of shape (n_samples,) or str
        The class of each row, or the name of the column of X that holds it.
    compared : dict of str → classifier, optional
        Other fitted models of the same classes, by name, which the page compares on the same rows.
    sample_weight : array-like of shape (n_samples,), optional
        A row of weight k counts as k rows.
    rows : bool, default=True
        Whether the page holds single rows with their cells: the hundred most worth looking at. Without them
        it still holds scores of rows, and names and ranges of columns.
    title : str, optional
        The heading of the page.
    random_state : int, default=0
        The seed of the sample.

    Returns
    -------
    page : Page
        `page.save("report.html")` writes it, and `page.html` is its text.

    Examples
    --------
    >>> import suffice
    >>> X, species = suffice.load_penguins()
    >>> page = suffice.report(suffice.BayesClassifier().fit(X, species), X, species)
    >>> page.data["rows"]
    {'all': 344, 'sample': 344, 'weight': None}
    """
    X, y = labelled(X, y)
    labels = read_labels(y)
    if len(labels) == 0:
        raise ValueError("there are no rows to report on: X and y are empty.")
    weight = None if sample_weight is None else checked_weights(sample_weight, len(labels))
    models = [NamedModel.of("this model", model)]
    models += [NamedModel.of(str(name), other) for name, other in (compared or {}).items()]
    passed = PassingRows(models, random_state)
    passed.add(X, labels, weight)
    return made_page(passed, title=title, rows=rows)


def made_page(passed: PassingRows, *, title: str | None, rows: bool) -> Page:
    """The page about rows that have passed."""
    named, sample, classes = passed.models[0], passed.sample, passed.classes
    evaluations = passed.evaluations()
    place = {label: k for k, label in enumerate(evaluations[0].labels)}
    truth = np.array([place[label] for label in sample.labels.tolist()], dtype=np.intp)
    known = np.flatnonzero(truth < len(classes))
    X = named.arranged(sample.X)
    inner = named.inner
    is_text = isinstance(inner, TextClassifier)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all rows have been asked about before, with every warning
        found = (
            gains(inner, take_rows(X, known), sample.labels[known]) if len(known) and not is_text else None
        )
        notable, parts = notable_rows(passed) if rows else ([], [])
        held = [(named.arranged(some), places) for some, places in parts]
        code, form = what_if(named, X, held, None if found is None else found[0], rows=rows)
        data: dict[str, Any] = {
            "title": shown(title or f"{named.kind} on {passed.n_rows:,} rows", 200),
            "kind": named.kind,
            "version": versions()["suffice"],
            "classes": [shown(label) for label in classes],
            "labels": [shown(label) for label in evaluations[0].labels],
            "rows": {
                "all": passed.n_rows,
                "sample": len(sample.labels),
                "weight": evaluations[0].answers.total_weight,
            },
            "trained": _trained(inner),
            "shares": evaluations[0].answers.shares().tolist(),
            "metrics": _metrics(passed, evaluations),
            "models": [_scores(one, sample.X, classes) for one in passed.models],
            "truth": packed(truth, np.uint16),
            "weight": packed(sample.weight, np.float32) if passed.is_weighted else None,
            "costs": named.costs,
            "schema": None if is_text else schema(inner, found),
            "pictures": None if is_text else _pictures(inner, X, truth, known, found),
            "words": _words(inner) if is_text else None,
            "notable": notable if rows else None,
            "form": form,
        }
    _name_priors(data)
    return _light(data, code)


def _light(data: dict[str, Any], code: str | None) -> Page:
    """The page, without what is heaviest where it would be larger than it may be."""
    page = page_of(data, code)
    size = (
        f"as a program the model is {len(code or ''):,} letters long, and the page would be larger than 1 MB"
    )
    heavy: tuple[tuple[str, Any], ...] = (
        ("form", {"reason": size}),
        ("pictures", None),
        ("notable", []),
        ("schema", None),
    )
    for name, instead in heavy:
        if len(page.html.encode()) <= MOST_BYTES:
            break
        data = data | {name: instead}
        code = None if name == "form" else code
        page = page_of(data, code)
    return page


def _trained(model: Any) -> float | None:
    return float(model.statistics_.weight.sum()) if hasattr(model, "statistics_") else None


def _metrics(passed: PassingRows, evaluations: list[Evaluation]) -> list[dict[str, Any]]:
    """The metrics of each model on all rows, and those of always answering the most common class."""
    lines = []
    for named, evaluation, (beyond, error) in zip(
        passed.models, evaluations, passed.differences(), strict=True
    ):
        lines.append({"name": shown(named.name), **_plain(evaluation), "beyond": beyond, "error": error})
    first = evaluations[0]
    lines.append({"name": f"always {shown(first.commonest)}", **_plain(first.baseline)})
    return lines


def _plain(metrics: Any) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else value for name, value in metrics.scalars().items()}


def _scores(named: NamedModel, X: Any, classes: list[Any]) -> dict[str, Any]:
    """The joint scores of the sampled rows, less the largest of each, and the priors they are based on."""
    scores = named.log_posteriors(X, classes)
    priors = priors_of(named.model)
    return {
        "name": shown(named.name),
        "scores": packed(np.maximum(scores - scores.max(axis=1, keepdims=True), -3e38), np.float32),
        "priors": None if priors is None else priors[named.order(classes)].tolist(),
        "ignoresPriors": _ignores_priors(named.inner),
    }


def _ignores_priors(model: Any) -> bool:
    """Whether scores begin without priors, as those of complement naive Bayes."""
    return isinstance(model, Scored) and not model._solved_model().offset.any()  # noqa: SLF001


def _pictures(
    model: Any, X: Any, truth: Any, known: Any, found: tuple[Array, Array] | None
) -> dict[str, Any] | None:
    if not len(known):
        return None
    try:
        return pictures(model, take_rows(X, known), truth[known], None if found is None else found[0])
    except (TypeError, ValueError):
        return None


def _words(model: TextClassifier) -> list[dict[str, Any]]:
    """The words that speak most for each class."""
    lists = []
    for k, label in enumerate(model.classes_.tolist()[:MOST_WORD_CLASSES]):
        words = model.top_words(label, MOST_WORDS, by="evidence")
        lists.append({"class": k, "words": [[shown(word), fewer_digits(nats)] for word, nats in words]})
    return lists


def _name_priors(data: dict[str, Any]) -> None:
    """Where a model does not report its priors, the shares of the rows stand in, and the page says so."""
    shares = data["shares"][: len(data["classes"])]
    total = sum(shares) or 1.0
    for one in data["models"]:
        one["reported"] = one["priors"] is not None
        one["priors"] = one["priors"] or [share / total for share in shares]
