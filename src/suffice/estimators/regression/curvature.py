"""Systems of equations with a Hessian, exact or nearly so."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg

from suffice.arrays import Array
from suffice.storage import Fields

SINGULAR = 1e-14
"""Relative curvature below which a direction counts as flat."""


class Curvature(Protocol):
    """Something that turns a gradient into a step."""

    def solve(self, gradient: Array) -> Array:
        """The step −H⁻¹·gradient, without its sign, in the shape of the gradient."""


class DenseCurvature:
    """A Hessian, factored about its own diagonal so that the scales of the columns do not matter.

    Flat directions (collinear columns without a penalty, a constant column) are left alone: the step is the
    shortest one.
    """

    def __init__(self, hessian: Array) -> None:
        diagonal = hessian.diagonal()
        size = len(hessian)
        self.scale = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)), 0.0)
        scaled = hessian * self.scale * self.scale[:, np.newaxis]
        self.rank = size
        self.root: Array | None = None
        try:
            root = linalg.cholesky(scaled, lower=True, check_finite=False)
            if size == 0 or np.square(root.diagonal()).min() > size * SINGULAR:
                self.root = root
                return
        except linalg.LinAlgError:
            pass
        values, self.vectors = linalg.eigh(scaled)
        kept = values > size * SINGULAR * max(float(values.max(initial=0.0)), 1e-300)
        self.rank = int(kept.sum())
        self.inverse_values = np.where(kept, 1.0 / np.where(kept, values, 1.0), 0.0)

    def state(self) -> dict[str, Any]:
        """The factors, as a file holds them."""
        if self.root is not None:
            return {"scale": self.scale, "root": self.root}
        return {"scale": self.scale, "vectors": self.vectors, "inverse_values": self.inverse_values}

    @classmethod
    def from_fields(cls, fields: Fields, size: int) -> Self:
        """The factors from their state."""
        curvature = cls.__new__(cls)
        curvature.scale = fields.array("scale", np.float64, (size,))
        curvature.root, curvature.rank = None, size
        if fields.has_array("root"):
            curvature.root = fields.array("root", np.float64, (size, size))
            if (curvature.root.diagonal() <= 0.0).any():
                raise fields.error("root", "must have a positive diagonal.")
        else:
            curvature.vectors = fields.array("vectors", np.float64, (size, size))
            curvature.inverse_values = fields.array("inverse_values", np.float64, (size,))
            curvature.rank = int(np.count_nonzero(curvature.inverse_values))
        return curvature

    def solve(self, gradient: Array) -> Array:
        """H⁻¹·gradient."""
        right = self.scale * gradient.ravel()
        if self.root is not None:
            step = linalg.cho_solve((self.root, True), right, check_finite=False)
        else:
            step = self.vectors @ (self.inverse_values * (self.vectors.T @ right))
        return np.asarray(self.scale * step).reshape(gradient.shape)

    def inverse(self) -> Array:
        """H⁻¹ across the directions that are not flat."""
        if self.root is not None:
            inverse = linalg.cho_solve((self.root, True), np.eye(len(self.scale)), check_finite=False)
            return np.asarray(inverse * self.scale * self.scale[:, np.newaxis])
        inverse = (self.vectors * self.inverse_values) @ self.vectors.T
        return np.asarray(inverse * self.scale * self.scale[:, np.newaxis])

    def flat(self) -> Array:
        """Flat directions, (parameters, directions), each with 1 as its largest entry."""
        if self.root is not None:
            return np.zeros((len(self.scale), 0))
        scale = np.where(self.scale > 0.0, self.scale, 1.0)[:, np.newaxis]
        vectors = scale * self.vectors[:, self.inverse_values == 0.0]
        return np.asarray(vectors / np.abs(vectors).max(axis=0, initial=1e-300))


class KroneckerCurvature:
    """A ⊗ G + I ⊗ diag(penalty), by the eigenvectors of A: one p × p system for each of its eigenvalues.

    G may be given by its diagonal alone.
    """

    def __init__(self, between: Array, within: Array, penalty: Array) -> None:
        values, self.vectors = linalg.eigh(between)
        values = np.maximum(values, SINGULAR)
        self.parts: list[DenseCurvature] | None = None
        if within.ndim == 1:
            diagonal = values[:, np.newaxis] * within + penalty
            self.inverse_diagonal = np.where(
                diagonal > 0.0, 1.0 / np.where(diagonal > 0.0, diagonal, 1.0), 0.0
            )
        else:
            self.parts = [DenseCurvature(value * within + np.diag(penalty)) for value in values]

    def solve(self, gradient: Array) -> Array:
        """H⁻¹·gradient."""
        turned = self.vectors.T @ gradient
        if self.parts is None:
            step = self.inverse_diagonal * turned
        else:
            step = np.array([part.solve(row) for part, row in zip(self.parts, turned, strict=True)])
        return np.asarray(self.vectors @ step)
