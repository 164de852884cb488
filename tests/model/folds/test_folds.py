"""A model of the training rows of a split, made from sums, is the model that `fit` makes of these rows."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import LedoitWolf
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

import suffice
from suffice import BayesClassifier, GaussianDiscriminant, TextClassifier, dropin, families
from suffice.model.folds import training_sums
from suffice.model.summarize import LabelledRows

N_ROWS = 60
RNG = np.random.default_rng(0)
LABELS = np.array(["a", "b", "c"])[np.arange(N_ROWS) % 3]
WEIGHTS = RNG.choice([0.0, 0.1, 0.2, 1.0, 2.5], N_ROWS)
NORMAL = RNG.normal(size=(N_ROWS, 3)) + (LABELS == "a")[:, np.newaxis]
POSITIVE = RNG.gamma(2.0, size=(N_ROWS, 2)) + 0.01
COUNTS = RNG.poisson(3.0, (N_ROWS, 4))
WORDS = ["good", "bad", "film", "fun", "plot", "the", "dull", "star"]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(1, 9))) for _ in range(N_ROWS)]
TEXTS[7] += " unique"


def with_gaps(X, share=0.1):
    X = np.array(X, dtype=np.float64)
    X[np.random.default_rng(1).random(X.shape) < share] = np.nan
    return X


MIXED = pd.DataFrame(
    {
        "size": with_gaps(NORMAL)[:, 0],
        "wait": POSITIVE[:, 0],
        "visits": COUNTS[:, 0],
        "colour": np.where(np.arange(N_ROWS) == 5, "mauve", RNG.choice(["red", "blue", None], N_ROWS)),
        "text": TEXTS,
        "flag": COUNTS[:, 1] > 3,
        "empty": [None] * N_ROWS,
    }
)
OF_FAMILIES = {
    "normal": (families.Normal(), with_gaps(NORMAL)),
    "normal, alpha 0": (families.Normal(alpha=0), with_gaps(NORMAL)),
    "shared normal": (families.Normal("shared"), with_gaps(NORMAL)),
    "log normal": (families.LogNormal(), with_gaps(POSITIVE)),
    "gamma": (families.Gamma(), with_gaps(POSITIVE)),
    "shared gamma": (families.Gamma("shared"), with_gaps(POSITIVE)),
    "exponential": (families.Exponential(), with_gaps(POSITIVE)),
    "inverse gaussian": (families.InverseGaussian(), with_gaps(POSITIVE)),
    "beta": (families.Beta(), with_gaps(RNG.random((N_ROWS, 2)))),
    "von mises": (families.VonMises(), with_gaps(NORMAL)),
    "bernoulli": (families.Bernoulli(), with_gaps(COUNTS > 3)),
    "categorical": (families.Categorical(), with_gaps(COUNTS)),
    "poisson": (families.Poisson(), with_gaps(COUNTS)),
    "geometric": (families.Geometric(), with_gaps(COUNTS + 1)),
    "negative binomial": (families.NegativeBinomial(3), with_gaps(COUNTS)),
    "binomial": (families.Binomial(20), with_gaps(COUNTS)),
    "multinomial": (families.Multinomial(), COUNTS),
    "multivariate normal": (families.MultivariateNormal("full"), with_gaps(NORMAL)),
    "words": (families.Words(), pd.DataFrame({"text": TEXTS})),
    "histogram": (families.Histogram(), with_gaps(NORMAL)),
    "steps": (families.Steps(), with_gaps(NORMAL)),
    "hurdle": (families.Hurdle(families.Gamma()), with_gaps(COUNTS)),
}
MODELS = {
    **{name: (BayesClassifier(family), X) for name, (family, X) in OF_FAMILIES.items()},
    "mixed table": (BayesClassifier(), MIXED),
    "polars": (BayesClassifier(), pl.from_pandas(MIXED)),
    "pyarrow": (BayesClassifier(), pa.Table.from_pandas(MIXED)),
    "objects": (BayesClassifier(), MIXED.to_numpy(dtype=object)),
    "sparse": (BayesClassifier(), sparse.csr_array(COUNTS)),
    "priors": (BayesClassifier(priors={"a": 0.5, "b": 0.3, "c": 0.2}), NORMAL),
    **{
        f"covariance {name}": (GaussianDiscriminant(name), NORMAL)
        for name in ("full", "shared", "diagonal", "shared_diagonal", "isotropic", "shared_isotropic")
    },
    "groups of classes": (GaussianDiscriminant([["a", "b"], ["c"]]), NORMAL),
    "gaps by em": (GaussianDiscriminant("shared"), with_gaps(NORMAL)),
    "gaps by pairs": (GaussianDiscriminant("full", missing="pairwise"), with_gaps(NORMAL)),
    "ledoit wolf": (GaussianDiscriminant("full", shrinkage="ledoit_wolf"), NORMAL),
    "friedman": (GaussianDiscriminant("full", shrinkage=(0.3, 0.2)), NORMAL),
    "text": (TextClassifier(), TEXTS),
    "text, bernoulli": (TextClassifier("bernoulli"), np.array(TEXTS)),
    "text, complement": (TextClassifier("complement", weight_norm=True), pd.Series(TEXTS)),
    "text, transformed": (TextClassifier(tf="log", length="l2", idf=True, ngram_range=(1, 2)), TEXTS),
    "text, smooth": (TextClassifier(unseen="smooth", alpha=0.1, min_count=2), TEXTS),
    "GaussianNB": (dropin.GaussianNB(), with_gaps(NORMAL)),
    "GaussianNB, float32": (dropin.GaussianNB(), NORMAL.astype(np.float32)),
    "MultinomialNB": (dropin.MultinomialNB(), COUNTS),
    "MultinomialNB, sparse": (dropin.MultinomialNB(), sparse.csc_array(COUNTS)),
    "ComplementNB": (dropin.ComplementNB(), COUNTS),
    "BernoulliNB": (dropin.BernoulliNB(binarize=2.0), COUNTS),
    "CategoricalNB": (dropin.CategoricalNB(min_categories=20), COUNTS),
    "LDA": (dropin.LinearDiscriminantAnalysis(), NORMAL),
    "LDA, shrunk": (dropin.LinearDiscriminantAnalysis("lsqr", shrinkage="auto"), NORMAL),
    "QDA": (dropin.QuadraticDiscriminantAnalysis(reg_param=0.1), NORMAL),
}
SPLITTERS = {
    "folds": KFold(5, shuffle=True, random_state=0),
    "stratified": StratifiedKFold(4),
    "grouped": GroupKFold(4),
    "repeated": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
    "overlapping": ShuffleSplit(3, test_size=0.3, random_state=0),
    "part of the rows": ShuffleSplit(3, train_size=0.5, test_size=0.2, random_state=0),
    "growing": TimeSeriesSplit(3),
    "predefined": PredefinedSplit(np.arange(N_ROWS) % 4 - 1),
    "one by one": LeaveOneOut(),
}


def some(X, rows):
    if isinstance(X, (pd.DataFrame, pd.Series)):
        return X.iloc[rows]
    if isinstance(X, pa.Table):
        return X.take(rows)
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def with_schema(model, X, y, weights):
    """The model, with the families that it infers from all rows."""
    if type(model) is not BayesClassifier:
        return model
    return clone(model).set_params(families=clone(model).fit(X, y, weights).schema_)


def assert_same(found, refitted, X):
    assert found.classes_.tolist() == refitted.classes_.tolist()
    np.testing.assert_allclose(found.predict_proba(X), refitted.predict_proba(X), rtol=0, atol=1e-9)
    joint = refitted.predict_joint_log_proba(X)
    np.testing.assert_allclose(found.predict_joint_log_proba(X), joint, rtol=1e-9, atol=1e-9)
    assert found.n_features_in_ == refitted.n_features_in_ if hasattr(refitted, "n_features_in_") else True


def assert_splits_are_refits(model, X, y, splits, weights=None):
    y, splits = np.asarray(y), list(splits)
    fitted = list(model.fit_splits(X, y, splits, weights))
    assert len(fitted) == len(splits)
    like = with_schema(model, X, y, weights)
    for found, (train, _) in zip(fitted, splits, strict=True):
        own = None if weights is None else weights[train]
        assert_same(found, clone(like).fit(some(X, train), y[train], own), X)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("name", MODELS)
def test_a_fold_is_a_refit_on_the_other_rows_for_every_model(name, weights):
    model, X = MODELS[name]
    splits = KFold(4, shuffle=True, random_state=1).split(np.empty(N_ROWS))
    assert_splits_are_refits(model, X, LABELS, splits, weights)


@pytest.mark.parametrize("splitter", SPLITTERS)
@pytest.mark.parametrize("name", ["mixed table", "text", "GaussianNB", "gaps by em"])
def test_any_splitter_gives_refits(name, splitter):
    model, X = MODELS[name]
    if name == "gaps by em" and splitter == "one by one":
        X = NORMAL  # sixty runs of EM take long
    groups = np.arange(N_ROWS) // 5 if splitter == "grouped" else None
    splits = SPLITTERS[splitter].split(np.empty(N_ROWS), LABELS, groups)
    assert_splits_are_refits(model, X, LABELS, splits, WEIGHTS)


def test_masks_and_repeated_rows_are_splits_too():
    mask = np.arange(N_ROWS) < 40
    assert_splits_are_refits(BayesClassifier(), NORMAL, LABELS, [(mask, ~mask), (~mask, mask)])
    drawn = RNG.integers(N_ROWS, size=N_ROWS)
    assert_splits_are_refits(BayesClassifier(), NORMAL, LABELS, [(drawn, np.arange(3))])


@pytest.mark.parametrize("model", [BayesClassifier(), dropin.GaussianNB(), GaussianDiscriminant("diagonal")])
def test_a_class_that_is_only_in_one_fold_leaves_the_model(model):
    y = np.repeat(["a", "b", "c"], N_ROWS // 3)
    splits = list(KFold(3).split(NORMAL))
    assert_splits_are_refits(model, NORMAL, y, splits)
    assert [one.classes_.tolist() for one in model.fit_splits(NORMAL, y, splits)] == [
        ["b", "c"],
        ["a", "c"],
        ["a", "b"],
    ]


def test_a_level_and_a_word_that_are_only_in_one_fold_leave_the_model():
    splits = [(np.arange(8, N_ROWS), np.arange(8)), (np.arange(8), np.arange(8, N_ROWS))]
    without, _ = BayesClassifier(families={"empty": None}).fit_splits(MIXED, LABELS, splits)
    assert "mauve" not in str(without.parameters_["colour"])
    assert_splits_are_refits(BayesClassifier(), MIXED, LABELS, splits)
    words, _ = TextClassifier().fit_splits(TEXTS, LABELS, splits)
    assert "unique" not in words.vocabulary_
    assert_splits_are_refits(TextClassifier(unseen="smooth"), TEXTS, LABELS, splits)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e100])
@pytest.mark.parametrize(
    "model",
    [
        BayesClassifier(),
        BayesClassifier(families.Normal(alpha=0)),
        BayesClassifier(families.Gamma()),
        dropin.GaussianNB(),
        GaussianDiscriminant("full"),
    ],
)
def test_what_a_fold_holds_leaves_no_rounding_errors_behind(model, size):
    X = np.abs(NORMAL) + 0.1
    X[LABELS == "a", 0] = 3.1  # constant in class a outside of the first fold
    fold = np.arange(20)
    X[fold, 0] += size * np.abs(RNG.normal(size=20))
    rest = np.arange(20, N_ROWS)
    found = next(model.fit_splits(X, LABELS, [(rest, fold), (fold, rest)]))
    refitted = clone(model).fit(X[rest], LABELS[rest])
    assert_same(found, refitted, X[rest])


@pytest.mark.parametrize("cells", [1, 50, 1 << 22])
def test_batches_of_any_size_give_the_same_models(monkeypatch, cells):
    monkeypatch.setattr(training_sums, "CELLS_AT_ONCE", cells)
    for name in ("mixed table", "text", "LDA"):
        model, X = MODELS[name]
        assert_splits_are_refits(model, X, LABELS, KFold(3).split(np.empty(N_ROWS)), WEIGHTS)


def test_folds_read_each_row_once(monkeypatch):
    read = []
    take = suffice.tables.table.Table.take

    def counting(self, rows):
        read.append(len(rows))
        return take(self, rows)

    monkeypatch.setattr(suffice.tables.table.Table, "take", counting)
    list(dropin.GaussianNB().fit_splits(NORMAL, LABELS, KFold(6).split(NORMAL)))
    assert sum(read) == N_ROWS


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weighted"])
def test_training_rows_that_grow_are_refits(name, weights):
    model, X = MODELS[name]
    order = np.random.default_rng(1).permutation(N_ROWS)
    grown = [(order[:n], order[n:]) for n in (N_ROWS // 3, N_ROWS // 2, N_ROWS - 5, N_ROWS - 1)]
    others = [(order[5:], order[:5]), (order[5:], order[:2]), (order[: N_ROWS // 2], order[-3:])]
    assert_splits_are_refits(model, X, LABELS, grown + others, weights)


def test_training_rows_that_grow_are_read_once(monkeypatch):
    read = []
    take = suffice.tables.table.Table.take
    monkeypatch.setattr(
        suffice.tables.table.Table, "take", lambda self, rows: read.append(len(rows)) or take(self, rows)
    )
    splits = list(TimeSeriesSplit(6).split(NORMAL))
    list(dropin.GaussianNB().fit_splits(NORMAL, LABELS, splits))
    assert sum(read) == len(splits[-1][0])


def test_families_of_the_training_rows_share_sums_where_they_agree(monkeypatch):
    summed = []
    add = LabelledRows.add_to
    monkeypatch.setattr(
        LabelledRows, "add_to", lambda self, total: summed.append(len(self.codes)) or add(self, total)
    )
    rows = pd.DataFrame({"size": NORMAL[:, 0], "kind": np.where(np.arange(N_ROWS) < 20, 0.0, NORMAL[:, 1])})
    splits = [(np.arange(n), np.arange(n, N_ROWS)) for n in (10, 20, 50, N_ROWS - 1)]
    settings = [{}, {"priors": "uniform"}]
    made = list(BayesClassifier().fit_grid(rows, LABELS, splits, settings, refit_schema=True))
    assert sum(summed) == N_ROWS - 1 + 2 * (10 + 20)  # a constant column is another family
    assert len(made) == 8
    for number, split, model in made:
        train, test = splits[split]
        alone = BayesClassifier(**settings[number]).fit(rows.iloc[train], LABELS[train])
        assert model.schema_ == alone.schema_
        np.testing.assert_allclose(
            model.predict_proba(rows.iloc[test]), alone.predict_proba(rows.iloc[test]), rtol=0, atol=1e-9
        )


def test_the_model_stays_as_it_is():
    model = BayesClassifier().fit(NORMAL, LABELS)
    before = model.predict_proba(NORMAL)
    fitted = list(model.fit_splits(NORMAL, LABELS, KFold(3).split(NORMAL)))
    np.testing.assert_array_equal(model.predict_proba(NORMAL), before)
    first = fitted[0].predict_proba(NORMAL)
    fitted[1].partial_fit(NORMAL[:20], LABELS[:20])
    np.testing.assert_array_equal(fitted[0].predict_proba(NORMAL), first)


def test_a_fold_is_a_model_like_any_other(tmp_path):
    fitted = next(BayesClassifier().fit_splits(MIXED, LABELS, KFold(3).split(MIXED)))
    fitted.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    np.testing.assert_array_equal(loaded.predict_proba(MIXED), fitted.predict_proba(MIXED))
    assert fitted.feature_names_in_.tolist() == list(MIXED.columns)
    assert list(fitted.sample(3, random_state=0)[0].columns) == list(MIXED.columns)


def test_labels_of_rows_without_weight_are_declared_as_by_fit():
    weights = np.where(LABELS == "c", 0.0, 1.0)
    assert_splits_are_refits(dropin.GaussianNB(), NORMAL, LABELS, KFold(3).split(NORMAL), weights)
    fitted = next(dropin.GaussianNB().fit_splits(NORMAL, LABELS, KFold(3).split(NORMAL), weights))
    assert fitted.classes_.tolist() == ["a", "b", "c"]


def test_splits_refuse_what_fit_refuses():
    halves = [(np.arange(30), np.arange(30, N_ROWS)), (np.arange(30, N_ROWS), np.arange(30))]
    bad = NORMAL.copy()
    bad[40, 1] = np.inf
    with pytest.raises(ValueError, match="row 40"):
        list(BayesClassifier().fit_splits(bad, LABELS, halves))
    with pytest.raises(ValueError, match="Negative values in data passed to MultinomialNB"):
        list(dropin.MultinomialNB().fit_splits(NORMAL, LABELS, halves))
    with pytest.raises(ValueError, match="'d'"):
        list(BayesClassifier(priors={"a": 0.5, "d": 0.5}).fit_splits(NORMAL, LABELS, halves))
    with pytest.raises(ValueError, match="group"):
        list(GaussianDiscriminant([["a"], ["b"]]).fit_splits(NORMAL, LABELS, halves))
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        list(BayesClassifier().fit_splits(NORMAL, LABELS, halves, np.arange(N_ROWS) < 30))
    with pytest.raises(ValueError, match="split 1 has no training rows"):
        list(BayesClassifier().fit_splits(NORMAL, LABELS, [halves[0], ([], [])]))


GRIDS = {
    "alphas": (
        BayesClassifier(),
        NORMAL,
        [{"families": families.Normal(alpha=alpha)} for alpha in (0.0, 0.5, 2.0)],
        1,
    ),
    "families": (
        BayesClassifier(),
        POSITIVE,
        [
            {"families": one}
            for one in ("gamma", "normal", {0: families.Gamma(), 1: None}, families.Gamma("shared"))
        ],
        1,
    ),
    "columns": (
        BayesClassifier(),
        MIXED,
        [
            {"families": one}
            for one in (
                "infer",
                {"text": None, "wait": None},
                {"visits": "normal", "wait": families.Gamma(), "size": None},
                {("wait", "visits"): families.MultivariateNormal("full"), "text": None},
                {("size", "wait", "visits"): families.MultivariateNormal("shared"), "colour": None},
                {("wait", "visits"): families.Multinomial(), "text": families.Words(tf="log")},
                {"text": families.Words(alpha=9.0, event="bernoulli"), "flag": families.Categorical()},
                dict.fromkeys(MIXED.columns[1:]),
            )
        ],
        1,
    ),
    "blocks": (
        BayesClassifier(),
        COUNTS,
        [
            {"families": one}
            for one in (
                families.Multinomial(),
                {(0, 1, 2): families.Multinomial(alpha=3.0), 3: None},
                {(0, 1): families.MultivariateNormal("full"), (2, 3): families.MultivariateNormal("full")},
                {(0, 2): families.MultivariateNormal("full"), 1: None, 3: "poisson"},
                families.MultivariateNormal("shared", shrinkage="ledoit_wolf"),
                {(1, 3): families.MultivariateNormal("full", shrinkage="ledoit_wolf"), 0: None, 2: None},
            )
        ],
        1,
    ),
    "priors": (BayesClassifier(), MIXED, [{"priors": one} for one in (None, "uniform", [0.6, 0.3, 0.1])], 1),
    "covariances": (
        GaussianDiscriminant(),
        NORMAL,
        [
            {"covariance": "full", "shrinkage": 0.3},
            {"covariance": "shared", "shrinkage": "oas"},
            {"covariance": [["a"], ["b", "c"]]},
            {"covariance": "isotropic"},
            {"shrinkage": "ledoit_wolf"},
            {"ddof": 1.0},
        ],
        1,
    ),
    "gaps": (
        GaussianDiscriminant("full"),
        with_gaps(NORMAL),
        [{"missing": "em"}, {"missing": "pairwise"}, {"shrinkage": 0.2}],
        1,
    ),
    "text": (
        TextClassifier(),
        TEXTS,
        [
            {"alpha": 0.1},
            {"alpha": 2.0, "priors": "uniform"},
            {"event": "bernoulli"},
            {"min_count": 3},
            {"unseen": "smooth"},
            {"ngram_range": (1, 2)},
            {"tf": "log"},
            {"tf": "binary", "length": "l2"},
            {"ngram_range": (1, 2), "event": "complement"},
        ],
        2,
    ),
    "GaussianNB": (dropin.GaussianNB(), NORMAL, [{"var_smoothing": 10.0**-i} for i in range(1, 10, 3)], 1),
    "MultinomialNB": (
        dropin.MultinomialNB(),
        COUNTS,
        [{"alpha": 0.1}, {"alpha": 3.0, "fit_prior": False}],
        1,
    ),
    "BernoulliNB": (dropin.BernoulliNB(), COUNTS, [{"binarize": 2.0}, {"binarize": 4.0}, {"alpha": 0.1}], 3),
    "CategoricalNB": (
        dropin.CategoricalNB(min_categories=20),
        COUNTS,
        [{"alpha": 0.1}, {"min_categories": 30}],
        1,
    ),
    "LDA": (
        dropin.LinearDiscriminantAnalysis("lsqr"),
        NORMAL,
        [
            {"shrinkage": 0.1},
            {"shrinkage": "auto"},
            {"solver": "svd"},
            {"covariance_estimator": LedoitWolf()},
            {"priors": [0.5, 0.25, 0.25]},
        ],
        1,
    ),
    "QDA": (dropin.QuadraticDiscriminantAnalysis(), NORMAL, [{"reg_param": 0.0}, {"reg_param": 0.5}], 1),
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_grid_is_a_refit_for_every_setting_and_split(name, monkeypatch):
    model, X, settings, passes = GRIDS[name]
    weights = None if name == "LDA" else WEIGHTS  # a covariance estimator takes no weights
    splits = list(KFold(3, shuffle=True, random_state=2).split(np.empty(N_ROWS)))
    summed = []
    update = training_sums.SplitRows.training_sums
    monkeypatch.setattr(
        training_sums.SplitRows, "training_sums", lambda *args: summed.append(args) or update(*args)
    )
    found = {
        (number, split): one for number, split, one in model.fit_grid(X, LABELS, splits, settings, weights)
    }
    assert sorted(found) == [(i, j) for i in range(len(settings)) for j in range(3)]
    assert len(summed) == passes
    for (number, split), one in found.items():
        like = with_schema(clone(model).set_params(**settings[number]), X, LABELS, weights)
        train = splits[split][0]
        own = None if weights is None else weights[train]
        assert_same(one, clone(like).fit(some(X, train), LABELS[train], own), X)
        for setting, value in settings[number].items():
            assert repr(getattr(one, setting)) == repr(value)


def test_a_covariance_estimator_reads_the_rows_of_every_split():
    model = dropin.QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=LedoitWolf())
    assert_splits_are_refits(model, NORMAL, LABELS, KFold(3).split(NORMAL))
