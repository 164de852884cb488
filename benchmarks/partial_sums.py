"""What a partial statistic weighs, and the CPU time of merging one."""

import time

import numpy as np
import pandas as pd

import suffice
from suffice.engines.partial_sums import Merge, packed
from suffice.families import Categorical, Gamma, MultivariateNormal, Normal, Words

RNG = np.random.default_rng(0)


def rows(n_rows, n_columns, n_classes, draw):
    """Columns drawn one by one, and a class for each row."""
    columns = {f"x{j}": draw(n_rows) for j in range(n_columns)}
    return pd.DataFrame(columns), RNG.integers(0, n_classes, n_rows)


def cases():
    """A name, the size of the problem, and statistics."""

    def normal(n):
        return RNG.normal(size=n)

    for d, k in ((10, 2), (100, 2), (100, 10), (1000, 10)):
        X, y = rows(2000, d, k, normal)
        yield f"Normal, d={d}, K={k}", suffice.summarize(X, y, families=Normal())
    X, y = rows(2000, 100, 10, lambda n: RNG.gamma(2.0, 3.0, n))
    yield "Gamma, d=100, K=10", suffice.summarize(X, y, families=Gamma())
    for n_levels in (10, 1000):
        X, y = rows(20_000, 10, 10, lambda n, most=n_levels: RNG.integers(0, most, n).astype(str))
        yield f"Categorical, d=10, K=10, L={n_levels}", suffice.summarize(X, y, families=Categorical())
    X, y = rows(2000, 50, 10, normal)
    yield "MultivariateNormal, d=50, K=10", suffice.summarize(X, y, families={tuple(X): MultivariateNormal()})
    for n_words in (1000, 50_000):
        words = np.array([f"word{i}" for i in range(n_words)])
        texts = [" ".join(words[RNG.integers(0, n_words, 40)]) for _ in range(n_words // 8)]
        y = RNG.integers(0, 10, len(texts))
        yield (
            f"Words, V={n_words}, K=10",
            suffice.summarize(pd.DataFrame({"t": texts}), y, families={"t": Words()}),
        )


def main():
    print(f"{'statistics':<36}{'sums':>12}{'packed':>12}{'CPU of a merge':>18}")
    for name, statistics in cases():
        part = packed(statistics)
        merge = Merge.under(statistics.schema)
        merge.unpacked([part] * 2)
        cost = min(_cpu(lambda merge=merge, parts=[part] * 5: merge.unpacked(parts)) / 5 for _ in range(5))
        print(f"{name:<36}{statistics.nbytes:>12,}{len(part):>12,}{1e3 * cost:>15.1f} ms")


def _cpu(deed) -> float:
    start = time.process_time()
    deed()
    return time.process_time() - start


if __name__ == "__main__":
    main()
