"""The rows most worth looking at, each with what its cells say: surprising, unsure and novel ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.arrays import Array, Codes
from suffice.links import difference
from suffice.model.explaining.explanation import Explanation
from suffice.model.explaining.text_explanation import TextExplanation
from suffice.reports.passing import MOST_NOTABLE, KeptRows, NamedModel, PassingRows
from suffice.reports.words import cell, fewer_digits, shown
from suffice.tables.table import take_rows

MOST_CONTRIBUTIONS = 12
"""Contributions of a row that are shown one by one."""
SHOWN = 4
"""The most probable classes of a row, which are shown."""
MOST_CHARACTERS = 1_200
"""Characters of a document."""


def notable_rows(passed: PassingRows) -> tuple[list[dict[str, Any]], list[tuple[Any, Codes]]]:
    """The rows, and where their cells are, in the same order: containers with the places in them."""
    named = passed.models[0]
    kinds = {"surprising": passed.surprising, "unsure": passed.unsure}
    novel = _novel(named, passed.sample)
    if novel is not None:
        kinds["novel"] = novel
    described: list[dict[str, Any]] = []
    parts: list[tuple[Any, Codes]] = []
    chosen = _taken_in_turn({kind: rows.numbers.tolist() for kind, rows in kinds.items()})
    for kind, rows in kinds.items():
        own = [
            i for i, number in enumerate(rows.numbers.tolist()) if kind in list(chosen.get(number, {}))[:1]
        ]
        if not own:
            continue
        places = np.array(own, dtype=np.intp)
        parts.append((rows.X, places))
        for i, one in zip(own, _described(named, rows, places, passed.classes), strict=True):
            novelty = {"novelty": fewer_digits(rows.keys[i], 3)} if kind == "novel" else {}
            described.append(one | {"why": chosen[int(rows.numbers[i])]} | novelty)
    return described, parts


def _taken_in_turn(ranked: dict[str, list[int]]) -> dict[int, dict[str, int]]:
    """The first of each kind, then the second, and so on: at most so many rows, with their ranks by kind."""
    chosen: dict[int, dict[str, int]] = {}
    for rank in range(MOST_NOTABLE):
        for kind, numbers in ranked.items():
            if rank < len(numbers) and (numbers[rank] in chosen or len(chosen) < MOST_NOTABLE):
                chosen.setdefault(numbers[rank], {})[kind] = rank
    return chosen


def _novel(named: NamedModel, sample: KeptRows) -> KeptRows | None:
    """The rows of the sample that the model finds least likely."""
    if not hasattr(named.model, "novelty"):
        return None
    try:
        probability = named.model.novelty(named.arranged(sample.X))
    except (TypeError, ValueError):
        return None
    kept = KeptRows(MOST_NOTABLE)
    kept.add(probability, 0, sample.X, sample.labels, sample.weight)
    kept.numbers = sample.numbers[kept.numbers]
    return kept


def _described(named: NamedModel, rows: KeptRows, places: Codes, classes: list[Any]) -> list[dict[str, Any]]:
    """What the page says about each row."""
    X = named.arranged(take_rows(rows.X, places))
    p = np.asarray(named.model.predict_proba(X))[:, named.order(classes)]
    explanation = named.model.explain(X) if hasattr(named.model, "explain") else None
    place = {label: k for k, label in enumerate(classes)}
    described = []
    for i, at in enumerate(places.tolist()):
        truth = place.get(rows.labels[at : at + 1].tolist()[0])
        a, b = _pair(p[i], truth)
        one: dict[str, Any] = {
            "row": int(rows.numbers[at]),
            "truth": truth if truth is not None else shown(rows.labels[at]),
            "p": [[k, fewer_digits(p[i, k], 5)] for k in np.argsort(-p[i], kind="stable")[:SHOWN].tolist()],
            "for": a,
            "against": b,
        }
        if isinstance(explanation, TextExplanation):
            one |= _of_document(explanation, i, classes[a], classes[b])
        elif explanation is not None:
            one |= _of_row(explanation, i, classes[a], classes[b])
        described.append(one)
    return described


def _pair(p: Array, truth: int | None) -> tuple[int, int]:
    """The most probable class, and the true one or else the next."""
    order = np.argsort(-p, kind="stable").tolist()
    if len(order) == 1:
        return order[0], order[0]
    wrong = truth is not None and truth != order[0]
    return order[0], truth if wrong and truth is not None else order[1]


def _of_row(explanation: Explanation, i: int, label: Any, against: Any) -> dict[str, Any]:
    gains = explanation.evidence(label, against)[i]
    order = np.argsort(-np.abs(np.nan_to_num(gains)), kind="stable")
    kept, rest = order[:MOST_CONTRIBUTIONS], order[MOST_CONTRIBUTIONS:]
    own = explanation.classes.tolist()
    prior = difference(explanation.prior[own.index(label)], explanation.prior[own.index(against)])
    return {
        "unit": explanation.unit,
        "start": [shown(explanation.start), fewer_digits(prior, 5)],
        "said": [
            [shown(explanation.columns[j]), cell(explanation.values[j][i]), fewer_digits(gains[j], 5)]
            for j in kept.tolist()
        ],
        "rest": [len(rest), fewer_digits(gains[rest].sum(), 5)],
    }


def _of_document(explanation: TextExplanation, i: int, label: Any, against: Any) -> dict[str, Any]:
    said = explanation.evidence(i, label, against)
    own = explanation.classes.tolist()
    a, b = own.index(label), own.index(against)
    kept, rest = said[:MOST_CONTRIBUTIONS], said[MOST_CONTRIBUTIONS:]
    prior = float(difference(explanation.prior[a], explanation.prior[b]))
    left = float(difference(*explanation.rest(i)[[a, b]]))
    text = explanation.documents.text(i)
    pieces = explanation.pieces(i, label, against, characters=MOST_CHARACTERS)
    return {
        "unit": "nats",
        "start": ["(prior)", fewer_digits(prior, 5)],
        "said": [[shown(word), "", fewer_digits(nats, 5)] for word, nats in kept],
        "rest": [len(rest), fewer_digits(sum(nats for _, nats in rest) + left, 5)],
        "text": [[shown_text(piece), fewer_digits(nats, 3)] for piece, nats in pieces],
        "cut": len(text) > MOST_CHARACTERS,
    }


def shown_text(text: str) -> str:
    """A piece of a document, with its lines and its tabs as spaces, in which nothing is hidden."""
    return "\n".join(shown(line, 4 * MOST_CHARACTERS) for line in text.replace("\t", "    ").split("\n"))
