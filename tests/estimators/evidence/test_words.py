"""Documents: evidence by length, and corrections of single words."""

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.optimize import minimize

import suffice
from suffice import EvidenceClassifier, TextClassifier
from suffice.estimators.evidence.word_corrections import WordSearch
from suffice.families import Words
from suffice.links import log_softmax
from suffice.model.weighing.known_rows import KnownRows

from .conftest import agrees, saved

WORDS = np.array([f"word{i}" for i in range(12)])


def bursty(n=240, seed=0):
    """Documents that say a few words again and again."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    texts = []
    for k in y:
        shares = np.where(np.arange(12) // 3 == k, 4.0, 1.0)
        said = rng.choice(WORDS, 4, p=shares / shares.sum())
        texts.append(" ".join(np.repeat(said, rng.integers(1, 12, 4))))
    return texts, np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def documents():
    return bursty()


@pytest.fixture(scope="module")
def of_documents(documents):
    """A model that no test changes."""
    return EvidenceClassifier(Words()).fit(*documents)


@pytest.fixture(scope="module")
def corrected():
    """A model with corrections: one word is told by five others too, which naive Bayes counts six times."""
    rng = np.random.default_rng(1)
    first, second = rng.random(300) < 0.5, rng.random(300) < 0.5
    y = (first + 1.2 * second + rng.normal(size=300) > 1.0).astype(int)
    texts = [
        " ".join(["one"] * one + ["two three four five six seven"] * two + ["all"])
        for one, two in zip(first.tolist(), second.tolist(), strict=True)
    ]
    return EvidenceClassifier(Words()).fit(texts, y), texts, y


def test_documents_that_repeat_themselves_are_divided_by_their_length(of_documents):
    levels = {level.name: level.loss for level in of_documents.weights_.levels}
    power = of_documents._learnt.learnt.weights.power
    assert power > 0
    assert levels[f"divided by length^{power:g}"] < levels["one weight"] - 0.02
    # Said twice, a document says 2^(1 − power) times as much.
    once, twice = of_documents.explain(["word0 word4 word4", "word0 word4 word4 " * 2]).contributions[:, 0]
    np.testing.assert_allclose(twice - twice.max(), 2.0 ** (1.0 - power) * (once - once.max()), atol=1e-12)


def test_words_drawn_by_themselves_are_not_divided_by_their_length():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    texts = [" ".join(rng.choice(WORDS[[k, 2, 3]], rng.integers(1, 6))) for k in y.tolist()]
    model = EvidenceClassifier(Words()).fit(texts, y)
    assert "divided" not in " ".join(level.name for level in model.weights_.levels)
    assert model._learnt.learnt.weights.power == 0.0


def test_words_that_repeat_others_are_corrected(corrected):
    model, texts, y = corrected
    assert "corrections of words" in [level.name for level in model.weights_.levels]
    plain = EvidenceClassifier(Words(), pieces=["columns"]).fit(texts, y)
    assert "corrections of words" not in [level.name for level in plain.weights_.levels]
    assert model.log_likelihood(texts, y) > plain.log_likelihood(texts, y)
    assert ("cells", "text") in [(piece.group, piece.name) for piece in model.weights_.pieces]


def test_nats_and_contributions_of_words_add_up(corrected):
    model, texts, _ = corrected
    explanation = model.explain([*texts[:5], "", "unheard of"])
    total = explanation.prior + explanation.contributions.sum(axis=1)
    np.testing.assert_allclose(
        suffice.links.softmax(total), model.predict_proba([*texts[:5], "", "unheard of"])
    )
    np.testing.assert_allclose(total[-1], total[-2])
    assert np.isfinite(model.weights_.nats).all()


def test_a_missing_document_says_nothing_but_that_it_is_missing(corrected):
    _, texts, y = corrected
    table = {"text": [*texts, None], "x": np.zeros(301)}
    mixed = EvidenceClassifier({"text": Words()}, pieces=["cells"]).fit(table, [*y, 0])
    contributions = mixed.explain(table).contributions[:, 0]
    assert not contributions[-1].any()
    assert contributions[:-1].any(axis=1).all()


@pytest.mark.parametrize("name", ["of_documents", "corrected"])
def test_saved_words_give_the_same_posteriors(request, documents, name):
    model = request.getfixturevalue(name)
    model, texts = (model, documents[0]) if name == "of_documents" else model[:2]
    again = suffice.load(io.BytesIO(saved(model)))
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert saved(again) == saved(model)


def test_rows_added_and_forgotten_leave_words_as_they_were(corrected):
    model, texts, y = corrected
    more, labels = ["one new", "two other words"], [1, 2]
    changed = suffice.load(io.BytesIO(saved(model))).partial_fit(more, labels)
    assert np.isfinite(changed.predict_proba(texts)).all()
    assert changed.classes_.tolist() == [0, 1, 2]
    agrees(changed.forget(more, labels), model, texts)
    merged = model + EvidenceClassifier(pieces=model.pieces_).fit(texts[:90], y[:90])
    agrees(merged.forget(texts[:90], y[:90]), model, texts)


@pytest.fixture(scope="module")
def with_gaps():
    """A model of a table whose notes say nothing but are mostly written about one class."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    notes = np.where(rng.random(120) < 0.1 + 0.8 * y, rng.choice(WORDS, 120), None)
    X = pd.DataFrame({"note": notes, "u": rng.normal(size=120)})
    return EvidenceClassifier({"note": "words"}).fit(X, y), X, y


def test_whether_a_document_is_there_is_evidence(with_gaps, tmp_path):
    model, X, y = with_gaps
    assert [piece.name for piece in model.pieces_.listed if piece.group == "presence"] == ["note"]
    assert model.predict_proba(pd.DataFrame({"note": [None], "u": [0.0]}))[0, 0] > 0.7
    empty = model.predict_proba(pd.DataFrame({"note": [""], "u": [0.0]}))
    assert empty[0, 1] > 0.7  # an empty document is there
    X.assign(y=y).to_csv(tmp_path / "notes.csv", index=False)
    of_file = EvidenceClassifier({"note": "words"}).fit_from(tmp_path / "notes.csv", target="y")
    agrees(of_file, model, X)


def test_evidence_of_gaps_between_documents_keeps_the_laws(with_gaps):
    model, X, y = with_gaps
    again = suffice.load(io.BytesIO(saved(model)))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    explanation = again.explain(X)
    np.testing.assert_allclose(
        explanation.prior + explanation.contributions.sum(axis=1), explanation.total, atol=1e-9
    )
    again.partial_fit(X[:50], y[:50])
    assert again.statistics_ != model.statistics_
    agrees(again.forget(X[:50], y[:50]), model, X)
    merged = model + EvidenceClassifier(pieces=model.pieces_).fit(X[:60], y[:60])
    agrees(merged.forget(X[:60], y[:60]), model, X)
    whole = X.fillna({"note": "all"})
    apart = model + EvidenceClassifier({"note": "words"}).fit(whole[:60], y[:60])
    assert np.isfinite(apart.predict_proba(X)).all()
    with pytest.raises(ValueError, match="'note': Words cannot be written as SQL"):
        model.to_sql("duckdb")


def test_a_document_of_weight_two_is_two_documents(corrected):
    _, texts, y = corrected
    once = EvidenceClassifier(Words()).fit(texts, y, sample_weight=np.full(len(y), 2.0))
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(y)), 2))
    twice = EvidenceClassifier(Words()).fit([texts[i] for i in order], y[order])
    agrees(once, twice, texts, atol=1e-6)


def test_documents_without_words_are_the_class_shares():
    model = EvidenceClassifier(Words()).fit(["", ".", ""] * 20, [0, 1, 1] * 20)
    np.testing.assert_allclose(model.predict_proba(["any"]), [[1 / 3, 2 / 3]], atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_corrections_are_those_of_a_generic_solver(n_classes):
    rng = np.random.default_rng(n_classes)
    inputs = sparse.random_array((60, 9), density=0.3, rng=rng, format="csr")
    offset, weight = rng.normal(size=(60, n_classes)), rng.integers(0, 3, 60).astype(float)
    rows = KnownRows(rng.integers(0, n_classes, 60), weight, n_classes)

    def loss(flat):
        table = flat.reshape(9, n_classes)
        own = log_softmax(offset + inputs @ table)[np.arange(60), rows.codes]
        return -weight @ own + 0.5 * 0.3 * np.sum(table**2)

    best = minimize(loss, np.zeros(9 * n_classes), method="BFGS", options={"gtol": 1e-7})
    found = WordSearch(inputs, rows, offset).learn(0.3, converged=1e-15)
    np.testing.assert_allclose(found.ravel(), best.x, atol=1e-5)


COLUMNS_OF_DOCUMENTS = [
    list,
    tuple,
    lambda texts: [np.nan if text is None else text for text in texts],
    lambda texts: np.array(texts, dtype=object),
    pd.Series,
    lambda texts: pd.Series(texts, dtype="category", index=range(len(texts), 0, -1)),
    lambda texts: pl.Series(texts, dtype=pl.String),
    lambda texts: pa.array(texts, pa.string()),
    lambda texts: pa.chunked_array([texts[:2], texts[2:]], pa.string()),
]


@pytest.mark.parametrize("column", COLUMNS_OF_DOCUMENTS)
def test_missing_documents_are_marginalised_wherever_they_are(documents, column):
    texts, y = documents
    n = 60
    gaps = [None, None, *texts[2:n]]
    last = [*texts[2:n], None, None]
    model = EvidenceClassifier().fit(column(gaps), y[:n])
    same = EvidenceClassifier().fit(last, [*y[2:n], *y[:2]])
    agrees(model, same, column(gaps), other_rows=[*last[-2:], *last[:-2]])
    scores = np.log(model.priors_) + model.bias_
    np.testing.assert_allclose(
        model.predict_log_proba(column([None, None])), np.tile(log_softmax(scores[np.newaxis]), (2, 1))
    )


@pytest.mark.parametrize(
    "X, error, message",
    [
        ("hello", TypeError, r"a single string was passed .* pass \[text\] for one document"),
        (None, TypeError, r"pass \[None\] for one document"),
        ([3, 4], TypeError, "document 0 is of type int, not a string: 3"),
        (np.array([3.0, 4.0]), TypeError, "document 0 is of type float, not a string: 3.0"),
        ({"n": [1], "film": ["a"]}, ValueError, r"fitted on documents.* pass the column .*, X\['film'\]\.$"),
        (pd.DataFrame({"film": ["a"]}), ValueError, r"fitted on documents.* other columns.*X\['film'\]"),
        ([{"film": "a"}], ValueError, r"fitted on documents.* other columns.*X\['film'\]"),
        ([[1, "a"], [2, "b"]], ValueError, r"fitted on documents.* other columns.*X\[:, 1\]\.$"),
        (
            np.ones((3, 2)),
            ValueError,
            r"fitted on documents.* other columns; pass the column of documents\.$",
        ),
        (sparse.csr_array(np.eye(4)), ValueError, r"fitted on documents.* pass the column of documents\.$"),
    ],
)
@pytest.mark.parametrize("families", ["infer", Words("bernoulli")])
def test_what_is_no_list_of_documents_is_refused_in_these_words(X, error, message, families):
    model = EvidenceClassifier(families).fit(["good film", "bad film"] * 20, [1, 0] * 20)
    for asked in (model, model.generative_):
        with pytest.raises(error, match=message):
            asked.predict(X)


@pytest.mark.parametrize("nothing", [[], (), np.array([], dtype=object), pd.Series([], dtype=object)])
def test_no_documents_have_no_posteriors(nothing):
    model = EvidenceClassifier().fit(["good film", "bad film"] * 20, [1, 0] * 20)
    assert model.predict_proba(nothing).shape == (0, 2)
    assert model.predict(nothing).shape == (0,)
    assert model.generative_.predict_proba(nothing).shape == (0, 2)


def test_texts_are_no_rows_of_a_model_of_numbers():
    model = EvidenceClassifier().fit(np.arange(8.0)[:, np.newaxis], [0, 1] * 4)
    with pytest.raises(ValueError, match="Expected a 2D table"):
        model.predict(["a", "b"])


def test_documents_tell_how_well_they_tell_the_classes_apart(documents, of_documents):
    texts, y = documents
    found = of_documents.evidence([None, *texts], [y[0], *y])
    expected = of_documents.generative_.evidence({"text": [None, *texts]}, [y[0], *y])
    np.testing.assert_array_equal(found.gained, expected.gained)
    with pytest.raises(ValueError, match="pass both X and y, or neither"):
        of_documents.evidence(texts)


def test_the_density_of_documents_takes_documents_and_draws_one_text_for_each(documents):
    texts, y = documents
    generative = EvidenceClassifier().fit(texts, y).generative_
    as_text = TextClassifier().fit(texts, y)
    np.testing.assert_allclose(generative.score_samples(texts), as_text.score_samples(texts))
    np.testing.assert_allclose(generative.predict_proba(texts), as_text.predict_proba(texts))
    assert generative.predict(texts[:3]).tolist() == as_text.predict(texts[:3]).tolist()
    with pytest.raises(ValueError, match=r"novelty needs .* or families=Words\('bernoulli'\)"):
        generative.novelty(texts[:1])
    by_presence = EvidenceClassifier(Words("bernoulli")).fit(texts, y).generative_
    assert 0.0 <= by_presence.novelty(texts[:1])[0] <= 1.0
    drawn, _ = generative.sample(2, 0)
    assert list(drawn) == ["words"]
    assert generative.predict(list(drawn["words"])).shape == (2,)


def test_a_shape_of_words_is_refused_with_what_to_use(documents):
    from suffice.plots import ShapeDisplay

    model = EvidenceClassifier().fit(*documents)
    with pytest.raises(ValueError, match=r"words have no shape to draw.*top_words.*weights_\.plot"):
        ShapeDisplay.from_estimator(model, documents[0])
