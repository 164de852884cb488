"""Public tables in the folder named by SUFFICE_DATA, for benchmarks of answers."""

import os
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = os.environ.get("SUFFICE_DATA")
TARGETS = {
    "adult": "income",
    "bank_marketing": "y",
    "covtype": "Cover_Type",
    "credit_approval": "class",
    "german_credit": "class",
    "heart_cleveland": "num",
    "horse_colic": "surgical_lesion",
    "house_votes84": "Class",
    "khan2001": "class",
    "letter": "lettr",
    "mushroom": "class",
    "pendigits": "class",
    "penguins": "species",
    "pima_na": "diabetes",
    "ring": "target",
    "satimage": "class",
    "segment": "class",
    "sonar": "Class",
    "soybean": "class",
    "spambase": "class",
    "texture": "target",
    "titanic1309": "survived",
    "twonorm": "target",
    "vehicle": "Class",
    "vowel": "y",
    "wdbc": "Diagnosis",
    "weather_aus": "RainTomorrow",
}
MOST_ROWS = 3000
FEWEST_OF_A_CLASS = 10


def table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """The rows in random order, of classes that have enough rows for folds within folds."""
    target = TARGETS[name]
    files = [Path(FOLDER, name, f"{part}.csv.gz") for part in ("data", "train")]
    frame = pd.read_csv(next(file for file in files if file.exists()))
    frame = frame[frame[target].notna()].sample(frac=1, random_state=0)[:MOST_ROWS]
    y = frame[target].astype(str)
    kept = y.map(y.value_counts()) >= FEWEST_OF_A_CLASS
    return frame[kept].drop(columns=target).reset_index(drop=True), y[kept].to_numpy()
