"""Calibration of BayesClassifier on public tables, before and after: `python benchmarks/calibration.py`.

Needs the data sets in the folder named by SUFFICE_DATA. `Calibrated` has no constant that was fitted to these
tables. They are reported in two halves, so that a later choice can be made on one and confirmed on the other.
"""

import sys

import numpy as np
from sklearn.model_selection import StratifiedKFold

import suffice
from tables import FOLDER, TARGETS, table

METHODS = ("temperature", "vector", "isotonic")


def measured(X, y):
    """Calibration error, log loss and accuracy in 5 outer folds: of the model, then of each method."""
    splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    model = suffice.BayesClassifier(evidence_weight=1.0)  # the product of the families, not yet weighed
    models = [model, *(suffice.Calibrated(model, method) for method in METHODS)]
    reports = [suffice.evaluate(one, X, y, cv=splits, refit_schema=True) for one in models]
    return np.array([[report.ece, report.log_loss, report.accuracy] for report in reports])


def show_medians(results):
    found = np.array(results)
    middle = np.median(found, axis=0)
    print(f"  {'median':14} {' | '.join(' '.join(f'{v:.3f}' for v in row) for row in middle)}")
    ratio = np.median(found[:, 1:, 0] / found[:, :1, 0], axis=0)
    shown = zip(METHODS, middle[1:, 0] / middle[0, 0], ratio, strict=True)
    for method, of_medians, of_ratios in shown:
        print(f"  {method}: ratio of medians {of_medians:.3f}, median of ratios {of_ratios:.3f}")


def main() -> int:
    if FOLDER is None:
        print("SUFFICE_DATA does not name the folder of public data sets.")
        return 1
    names = list(TARGETS)
    everything = []
    for part, some in (("develop", names[::2]), ("confirm", names[1::2])):
        print(f"{part:16} calibration error, log loss, accuracy: before | {' | '.join(METHODS)}")
        results = []
        for name in some:
            results.append(measured(*table(name)))
            cells = (" ".join(f"{value:.3f}" for value in row) for row in results[-1])
            print(f"  {name:14} {' | '.join(cells)}", flush=True)
        show_medians(results)
        everything += results
    print("all")
    show_medians(everything)
    return 0


if __name__ == "__main__":
    sys.exit(main())
