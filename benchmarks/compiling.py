"""Seconds that each kernel takes to compile at its first use, with an empty cache, beside those it calls."""

import json
import os
import subprocess
import sys
import tempfile

MOST = 1.0
"""About a second: more is worth a look."""

INSIDE = """
import json
import time
import numpy as np
from numba.core import event
import scipy.sparse
import suffice
from suffice.families import Bernoulli, Categorical, Multinomial, Normal

class Compiling(event.Listener):
    def __init__(self):
        self.begun, self.seconds = [], {}
    def on_start(self, e):
        self.begun.append([time.perf_counter(), 0.0])
    def on_end(self, e):
        start, called = self.begun.pop()
        took = time.perf_counter() - start
        if self.begun:
            self.begun[-1][1] += took
        f = e.data["dispatcher"].py_func
        name = f.__module__.removeprefix("suffice.") + "." + f.__name__
        self.seconds[name] = max(took - called, self.seconds.get(name, 0.0))

rng = np.random.default_rng(0)
n = 200_000
y = rng.integers(3, size=n)
X = rng.normal(size=(n, 10))
codes = rng.integers(10, size=(n, 10))
counts = scipy.sparse.random(n, 500, density=0.02, format="csr", rng=rng)
counts.data = np.ceil(counts.data * 5)
texts = [" ".join(f"word{i}" for i in row) for row in rng.integers(5000, size=(20_000, 20))]
compiling = Compiling()
with event.install_listener("numba:compile", compiling):
    suffice.BayesClassifier(Normal()).fit(X, y).predict_proba(X)
    suffice.BayesClassifier(Normal()).fit(X, y, np.ones(n)).predict_proba(X)
    suffice.GaussianDiscriminant("shared").fit(X, y).predict_proba(X)
    suffice.GaussianDiscriminant("full").fit(X, y).predict_proba(X)
    suffice.BayesClassifier(Categorical()).fit(codes, y).predict_proba(codes)
    suffice.BayesClassifier(Bernoulli()).fit(codes > 4, y).predict_proba(codes > 4)
    suffice.BayesClassifier(Multinomial()).fit(counts, y).predict_proba(counts)
    suffice.LogisticRegression().fit(X, y).predict_proba(X)
    suffice.TextClassifier().fit(texts, y[:20_000]).predict_proba(texts)
print(json.dumps(compiling.seconds))
"""


def compile_times() -> dict[str, float]:
    """For each kernel the seconds of its slowest signature, in a fresh interpreter."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache, "SUFFICE_THREADS": "1"}
        command = [sys.executable, "-c", INSIDE]
        # S603: the command is ours.
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)  # noqa: S603
    seconds = json.loads(done.stdout)
    for name, took in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"{name:<60}{took:>8.2f} s{'  slow' if took > MOST else ''}")
    return seconds
