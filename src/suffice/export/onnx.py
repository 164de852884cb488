"""A model as an ONNX graph, in float64: a value is an (n, 1) or (n, classes) tensor, and values that differ
only in their columns are one (n, columns, 1) or (n, columns, classes) tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.export.expressions import (
    RULED_OUT,
    AcrossClasses,
    Apply,
    Cell,
    Clip,
    Expression,
    LevelNumber,
    Linear,
    Lookup,
    Missing,
    Number,
    SquaredNorm,
    Where,
    balanced,
    nodes,
    terms_of,
)
from suffice.export.scoring import Decision, Precision, Scoring
from suffice.export.tensors import Tensors, alike
from suffice.tables.wording import is_utf8

OPSET = 18
ML_OPSET = 4
IR_VERSION = 9
"""Versions that runtimes have supported since 2023."""
OPERATORS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "power": "Pow",
    "log": "Log",
    "exp": "Exp",
    "sin": "Sin",
    "floor": "Floor",
    "absolute": "Abs",
    "less": "Less",
    "less_equal": "LessOrEqual",
    "equal": "Equal",
    "logical_and": "And",
    "logical_or": "Or",
    "logical_not": "Not",
}
MANY = ("add", "logical_and", "logical_or")
WIDEST = 256
"""The most columns × classes of a tensor per row, if a sum can be split into parts."""


def model_proto(scoring: Scoring, dtype: Precision) -> Any:
    """The ModelProto of a model."""
    if dtype not in get_args(Precision):
        raise ValueError(f"dtype must be one of {', '.join(map(repr, get_args(Precision)))}, got {dtype!r}.")
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx; install it with: pip install suffice[onnx]"
        ) from error
    for name in scoring.names:
        if not is_utf8(str(name)):
            raise ValueError(f"the name {name!r} cannot be written in ONNX; rename the column.")
    for column in scoring.columns():
        if column.notation is not None and column.notation.form == "yyyymmdd":
            raise ValueError(
                f"column {column.name!r} is read as {column.notation.words}, which cannot be written in "
                "ONNX; fit the model on dates."
            )
    return _Graph(scoring, np.dtype(dtype)).model()


class _Graph(Tensors):
    """The scores of a model, and the posterior and label computed from them."""

    def __init__(self, scoring: Scoring, dtype: np.dtype[Any]) -> None:
        super().__init__(scoring, dtype)
        self._stacks: dict[tuple[int, ...], tuple[str, list[int]]] = {}
        self._written: dict[int, str] = {}

    def write(self, node: Expression) -> str:
        """Add the nodes of an expression, each once."""
        if id(node) not in self._written:
            self._written[id(node)] = self._write(node)
        return self._written[id(node)]

    def _write(self, node: Expression) -> str:
        if isinstance(node, Linear):
            return self._linear(node)
        if isinstance(node, SquaredNorm):
            return self._squared_norm(node)
        if isinstance(node, Apply) and node.function == "logical_and" and len(node.arguments) > 2:
            return self._all_of(node.arguments)
        writers: dict[type[Expression], Callable[[Any, list[str]], str]] = {
            Number: lambda node, _: self.constant(node.value.reshape(1, -1)),
            Cell: lambda node, _: self.cell(node.column),
            Missing: lambda node, _: self.add("IsNaN", self.cell(node.column)),
            LevelNumber: lambda node, _: self.cast(self._level_number(node), np.float64),
            Apply: self._apply,
            Clip: self._clip,
            Where: lambda _, parts: self.add("Where", *parts),
            Lookup: self._lookup,
            AcrossClasses: self._across_classes,
        }
        return writers[type(node)](node, [self.write(part) for part in node.parts])

    def add_up(self, root: Expression) -> str:
        """The sum of all terms of a score, with similar terms of many columns computed together."""
        terms = terms_of(root)
        added = []
        for group in alike(terms):
            width = max(WIDEST // self.n_classes, 1)
            for start in range(0, len(group), width):
                some = [terms[place] for place in group[start : start + width]]
                added.append(self.write(some[0]) if len(some) == 1 else self._sum(self._block(some)))
        return balanced(added, lambda a, b: self.add("Add", a, b))

    def _all_of(self, conditions: Sequence[Expression]) -> str:
        """Whether many conditions are true."""
        found = []
        for group in alike(conditions):
            some = [conditions[place] for place in group]
            if len(some) == 1:
                found.append(self.write(some[0]))
                continue
            truth = self.cast(self._block(some), np.int64)
            least = self.add("ReduceMin", truth, self.constant(np.array([1])), keepdims=0)
            found.append(self.cast(least, np.bool))
        return balanced(found, lambda a, b: self.add("And", a, b))

    def _block(self, terms: Sequence[Expression]) -> str:
        """Terms of one form as one tensor, (n, terms, 1) or (n, terms, classes)."""
        written: dict[int, str] = {}
        for twins in zip(*map(nodes, terms), strict=True):
            parts = [written[id(part)] for part in twins[0].parts]
            written[id(twins[0])] = self._write_twins(twins, parts)
        return written[id(terms[0])]

    def _write_twins(self, twins: tuple[Any, ...], parts: list[str]) -> str:
        """The same node of many terms."""

        def each(values: list[Any]) -> str:
            return self.constant(np.stack([np.reshape(value, -1) for value in values])[np.newaxis])

        node = twins[0]
        if isinstance(node, Number):
            return each([twin.value for twin in twins])
        if isinstance(node, (Cell, Missing)):
            cells = self.numbers(tuple(twin.column for twin in twins))
            deep = self.add("Unsqueeze", cells, self.constant(np.array([2])))
            return deep if isinstance(node, Cell) else self.add("IsNaN", deep)
        if isinstance(node, Clip):
            low, high = each([twin.low for twin in twins]), each([twin.high for twin in twins])
            raised = self.add("Where", self.add("Less", parts[0], low), low, parts[0])
            return self.add("Where", self.add("Less", high, raised), high, raised)
        if isinstance(node, Linear):
            weighted = [
                self.add("Mul", part, each([twin.weights[place] for twin in twins]))
                for place, part in enumerate(parts)
            ]
            return balanced(weighted, lambda a, b: self.add("Add", a, b))
        if isinstance(node, AcrossClasses):
            return self._across_classes(node, parts)
        return self.add("Where", *parts) if isinstance(node, Where) else self._apply(node, parts)

    def _sum(self, block: str) -> str:
        return self.add("ReduceSum", block, self.constant(np.array([1])), keepdims=0)

    def _apply(self, node: Apply, parts: list[str]) -> str:
        if node.function == "square":
            return self.add("Mul", parts[0], parts[0])
        operator = OPERATORS[node.function]
        if node.function in MANY:
            return balanced(parts, lambda a, b: self.add(operator, a, b))
        return self.add(operator, *parts)

    def _clip(self, node: Clip, parts: list[str]) -> str:
        return self.add(
            "Clip", *parts, *(self.constant(np.float64(limit)) for limit in (node.low, node.high))
        )

    def _across_classes(self, node: AcrossClasses, parts: list[str]) -> str:
        operator = "ReduceMax" if node.function == "max" else "ReduceSum"
        return self.add(operator, parts[0], self.constant(np.array([-1])), keepdims=1)

    def _lookup(self, node: Lookup, parts: list[str]) -> str:
        row = self.add("Squeeze", self.cast(parts[0], np.int64), self.constant(np.array([1])))
        return self.add("Gather", self.constant(node.table), row, axis=0)

    def _level_number(self, node: LevelNumber) -> str:
        column, cell, n = self.columns[node.column], self.cell(node.column), len(node.levels)
        places = np.arange(n, dtype=np.int64)
        if column.kind == "level":
            marks = ("", *(() if column.notation is None else column.notation.marks))
            known = dict.fromkeys(filter(is_utf8, marks), n + 1)
            known |= {level: i for i, level in enumerate(node.levels) if is_utf8(level)}
            return self._encode(
                cell, keys_strings=list(known), values_int64s=list(known.values()), default_int64=n
            )
        if column.wide:
            return self._encode(cell, keys_int64s=list(node.levels), values_int64s=places, default_int64=n)
        values = [np.float64(level) for level in node.levels]
        unseen = self.constant(np.array([[n]], dtype=np.int64))
        if not n:
            found = unseen
        else:
            same = self.cast(self.add("Equal", cell, self.constant(np.array([values]))), np.int64)
            # At most one level is equal, so the sum is its place − n, or 0 if none is.
            marked = self.add("Mul", same, self.constant((places - n)[np.newaxis]))
            summed = self.add("ReduceSum", marked, self.constant(np.array([1])), keepdims=1)
            found = self.add("Add", summed, unseen)
        gone = self.constant(np.array([[n + 1]], dtype=np.int64))
        return self.add("Where", self.add("IsNaN", cell), gone, found)

    def _encode(self, cell: str, **attributes: Any) -> str:
        return self.add("LabelEncoder", cell, domain="ai.onnx.ml", **attributes)

    def _stack(self, terms: tuple[Expression, ...]) -> tuple[str, list[int]]:
        """Terms side by side, and their order there.

        The shape is (n, terms) for numbers, and (n, terms, classes) if some are vectors.
        """
        place = tuple(id(term) for term in terms)
        if place not in self._stacks:
            groups = alike(terms)
            deep = any(term.is_vector for term in terms)
            parts = [self._side_by_side([terms[i] for i in group], deep=deep) for group in groups]
            joined = parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)
            self._stacks[place] = joined, [i for group in groups for i in group]
        return self._stacks[place]

    def _side_by_side(self, terms: list[Expression], *, deep: bool) -> str:
        if len(terms) == 1:
            value = self.write(terms[0])
            if not deep:
                return value
            block = self.add("Unsqueeze", value, self.constant(np.array([1])))
        elif not deep and all(isinstance(term, Cell) for term in terms):
            return self.numbers(tuple(term.column for term in terms if isinstance(term, Cell)))
        else:
            block = self._block(terms)
        if deep:
            return self.add("Expand", block, self.constant(np.array([1, 1, self.n_classes])))
        return self.add("Squeeze", block, self.constant(np.array([2])))

    def _spread(self, name: str) -> str:
        """One value for each class."""
        return self.add("Expand", name, self.constant(np.array([1, self.n_classes])))

    def _linear(self, node: Linear) -> str:
        stack, order = self._stack(node.terms)
        weights = node.weights[order]
        if not any(term.is_vector for term in node.terms):
            return self.add("MatMul", stack, self.constant(weights))
        return self._sum(self.add("Mul", stack, self.constant(weights[np.newaxis])))

    def _squared_norm(self, node: SquaredNorm) -> str:
        stack, order = self._stack(node.terms)
        if not any(term.is_vector for term in node.terms):
            by_class = self.add("Unsqueeze", stack, self.constant(np.array([0])))
        else:
            by_class = self.add("Transpose", stack, perm=[2, 0, 1])
        matrices = np.swapaxes(node.matrices[:, :, order], 1, 2)
        mapped = self.add("MatMul", by_class, self.constant(np.ascontiguousarray(matrices)))
        squares = self.add("Mul", mapped, mapped)
        norms = self.add("ReduceSum", squares, self.constant(np.array([2])), keepdims=0)
        return self.add("Transpose", norms, perm=[1, 0])

    def model(self) -> Any:
        """The whole graph."""
        axis = self.constant(np.array([1]))
        scores, *orders = [self._spread(self.add_up(root)) for root in self.scoring.score.parts]
        if not self.columns:
            scores = self._repeated(scores)
        if orders:
            lowest = self.add("ReduceMin", orders[0], axis, keepdims=1)
            possible = self.add("Equal", orders[0], lowest)
            scores = self.add("Where", possible, scores, self.constant(np.float64(RULED_OUT)))
        shifted = self.add("Sub", scores, self.add("ReduceMax", scores, axis, keepdims=1))
        parts = self.add("Exp", shifted)
        total = self.add("ReduceSum", parts, axis, keepdims=1)
        posterior = self.add("Div", parts, total)
        self.add("Cast", posterior, output=self.probabilities, to=self.type_of(self.dtype))
        decision = self.scoring.decision
        if decision is None:
            best, answers = self.add("ArgMax", shifted, axis=1, keepdims=0), self.scoring.classes
        else:
            best, answers = self._decided(posterior, decision), decision.answers
        labels = _label_array(answers)
        unknown = self.add("Squeeze", self.add("IsNaN", total), axis)
        best = self.add("Where", unknown, self.constant(np.int64(len(labels))), best)
        answers_or_none = np.append(labels, _no_label(labels.dtype))
        self.add("Gather", self.constant(answers_or_none), best, output=self.label, axis=0)
        return self._proto(labels.dtype)

    def _decided(self, posterior: str, decision: Decision) -> str:
        """The place of the answer with the lowest expected cost."""
        compared = self.add("MatMul", posterior, self.constant(decision.compared))
        best = self.add("ArgMin", compared, axis=1, keepdims=1)
        if decision.reject_cost is not None:
            expected = self.add("MatMul", posterior, self.constant(decision.costs))
            cost = self.add("GatherElements", expected, best, axis=1)
            refused = self.add("Greater", cost, self.constant(np.float64(decision.reject_cost)))
            best = self.add("Where", refused, self.constant(np.int64(self.n_classes)), best)
        return self.add("Squeeze", best, self.constant(np.array([1])))

    def _repeated(self, scores: str) -> str:
        """The same scores for every row of the first column, for scores that read no column."""
        if not self.inputs:
            self.input(self.scoring.column_names()[0], self.dtype, 1)
        n_rows = self.add("Shape", self.inputs[0].name, start=0, end=1)
        shape = self.add("Concat", n_rows, self.constant(np.array([self.n_classes])), axis=0)
        return self.add("Expand", scores, shape)

    def _proto(self, label_type: Any) -> Any:
        make = self.helper
        outputs = [
            make.make_tensor_value_info(self.label, self.type_of(label_type), ["n"]),
            make.make_tensor_value_info(self.probabilities, self.type_of(self.dtype), ["n", self.n_classes]),
        ]
        graph = make.make_graph(self.nodes, "suffice", self.inputs, outputs, self.constants)
        versions = [make.make_opsetid("", OPSET), make.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = make.make_model(graph, opset_imports=versions, producer_name="suffice", ir_version=IR_VERSION)
        from onnx import checker

        checker.check_model(model, full_check=True)
        return model


def _label_array(classes: NDArray[Any]) -> NDArray[Any]:
    """The classes as a tensor can hold them."""
    if classes.dtype.kind in "OUT":
        if not all(map(is_utf8, classes.tolist())):
            raise ValueError("a class whose name is not valid UTF-8 cannot be written as ONNX; rename it.")
        return np.array(classes.tolist(), dtype=object)
    return classes if classes.dtype.kind in "fb" or classes.dtype == np.uint64 else classes.astype(np.int64)


def _no_label(dtype: np.dtype[Any]) -> NDArray[Any]:
    """What stands for no class: "", NaN, or the whole number farthest from 0; of booleans, False."""
    none = {"O": "", "f": np.nan, "b": False, "i": np.iinfo(np.int64).min, "u": np.iinfo(np.uint64).max}
    return np.array([none[dtype.kind]], dtype=dtype)
