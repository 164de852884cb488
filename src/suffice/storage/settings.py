"""Settings as JSON. A value that JSON does not have becomes an object with one key that starts with "$".

{"$float": "nan"}  {"$tuple": […]}  {"$set": […]}  {"$map": [[key, value], …]}
{"$array": [dtype, shape, [numbers or strings]]}
{"$family": [name, settings]}  {"$class": name of a family}  {"$function": name}
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from suffice.families import FAMILIES, Family
from suffice.storage.format import SufficeFileError
from suffice.storage.limits import as_set

PLAIN_ARRAY = re.compile(r"<[iu][1248]|\|[iu]1|<f[248]|\|b1|<U\d{1,6}|\|O")
MOST_BITS = 1000
"""The most bits of an integer, so that it fits a float."""
MOST_TEXT = 1 << 24
"""The most bytes that strings of fixed width may take."""


def encode(value: Any, where: str) -> Any:
    """A setting as a JSON value."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, str, int, float)):
        return _encode_scalar(value)
    if isinstance(value, list):
        return [encode(part, where) for part in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode(part, where) for part in value]}
    if isinstance(value, (set, frozenset)):
        return {"$set": sorted((encode(part, where) for part in value), key=repr)}
    if isinstance(value, Mapping):
        return {"$map": [[encode(key, where), encode(part, where)] for key, part in value.items()]}
    return _encode_object(value, where)


def _encode_scalar(value: Any) -> Any:
    """A scalar as Python's own type, whatever subclass a library made of it."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": repr(float(value))}
    if value is None or isinstance(value, bool):
        return value
    return str(value) if isinstance(value, str) else int(value)


def _encode_object(value: Any, where: str) -> Any:
    """A family, an array, or the name of a function."""
    if isinstance(value, Family):
        return {"$family": [family_name(type(value)), encode_settings(value.settings(), f"{value.name}: ")]}
    if isinstance(value, type) and issubclass(value, Family):
        return {"$class": family_name(value)}
    if isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        return _encode_array(np.asarray(value), where)
    if callable(value):
        return {"$function": function_name(value, where)}
    raise TypeError(f"{where} is {value!r}, of type {type(value).__name__}, which a file cannot hold.")


def encode_settings(settings: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Settings by name."""
    return {name: encode(value, f"{where}{name}") for name, value in settings.items()}


def family_name(family: type[Family]) -> str:
    """The name by which a file refers to a family."""
    name = family.__name__
    if FAMILIES.get(name, family) is not family:
        raise ValueError(f"your family {name} has the same name as one of suffice; rename it before saving.")
    return name


def function_name(function: Callable[..., Any], where: str) -> str:
    """The name by which a file refers to a function."""
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise ValueError(
            f"{where} is {function!r}: a file holds no code, only the name of a function, and this one has "
            "none. Define it with def, save, and pass it when loading: suffice.load(path, known=[…])."
        )
    return str(name)


def _encode_array(array: np.ndarray[Any, Any], where: str) -> Any:
    array = array.astype(array.dtype.newbyteorder("<"))
    text = array.dtype.str
    if PLAIN_ARRAY.fullmatch(text) is None:
        raise TypeError(f"{where} is an array of type {array.dtype}, which a file cannot hold; pass a list.")
    return {"$array": [text, list(array.shape), [encode(part, where) for part in array.ravel().tolist()]]}


class Known:
    """What the names in a file stand for: the families of suffice, and what the caller adds."""

    def __init__(self, known: Any = ()) -> None:
        self.families: dict[str, type[Family]] = dict(FAMILIES)
        self.functions: dict[str, Callable[..., Any]] = {}
        for one in known:
            if isinstance(one, type) and issubclass(one, Family):
                self.families.setdefault(family_name(one), one)
            elif callable(one) and not isinstance(one, type):
                self.functions[function_name(one, "known=")] = one
            else:
                raise TypeError(f"known= takes your own families (the classes) and functions, got {one!r}.")

    def decode(self, value: Any) -> Any:
        """A setting from its JSON value."""
        if isinstance(value, list):
            return [self.decode(part) for part in value]
        if not isinstance(value, dict):
            if value in (math.inf, -math.inf) or (isinstance(value, int) and value.bit_length() > MOST_BITS):
                raise SufficeFileError("a number is too large.")
            return value
        if len(value) == 1:
            (tag, held), *_ = value.items()
            decoder = getattr(self, f"_{tag[1:]}", None) if tag in TAGS else None
            if decoder is not None:
                return decoder(held)
        raise SufficeFileError(f"a value has an unknown type: {', '.join(map(repr, value))[:80]}.")

    def _float(self, held: Any) -> float:
        return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[_one_of(held, ("nan", "inf", "-inf"))]

    def _tuple(self, held: Any) -> tuple[Any, ...]:
        return tuple(self.decode(part) for part in _list(held))

    def _set(self, held: Any) -> frozenset[Any]:
        return as_set(self.decode(part) for part in _list(held))

    def _map(self, held: Any) -> dict[Any, Any]:
        pairs = [_list(pair, 2) for pair in _list(held)]
        keys = [self.decode(key) for key, _ in pairs]
        if len(as_set(keys)) < len(keys):
            raise SufficeFileError("a key occurs twice.")
        return {key: self.decode(part) for key, (_, part) in zip(keys, pairs, strict=True)}

    def _array(self, held: Any) -> Any:
        text, shape, parts = _list(held, 3)
        if not (isinstance(text, str) and PLAIN_ARRAY.fullmatch(text)):
            raise SufficeFileError(f"an array has the unknown type {text!r}.")
        values = [self.decode(part) for part in _list(parts)]
        sizes = [n for n in _list(shape) if type(n) is int and n >= 0]
        if len(sizes) != len(shape) or len(sizes) > 8 or math.prod(sizes) != len(values):
            raise SufficeFileError("the shape of an array does not match its values.")
        dtype = np.dtype(text)
        if dtype.itemsize * len(values) > MOST_TEXT:
            raise SufficeFileError(f"an array of {len(values)} strings of type {text} is too large.")
        if dtype.kind == "O":
            array = np.empty(len(values), dtype=object)
            array[:] = values
            return array.reshape(sizes)
        fits = {"b": bool, "i": int, "u": int, "f": float, "U": str}[dtype.kind]
        if not all(type(part) is fits for part in values):
            raise SufficeFileError(f"an array of type {text} holds values of another type.")
        try:
            return np.array(values, dtype=dtype).reshape(sizes)
        except (OverflowError, ValueError) as error:
            raise SufficeFileError(f"an array of type {text} cannot hold its values ({error}).") from error

    def _family(self, held: Any) -> Family:
        name, given = _list(held, 2)
        family = self._class(name)
        if not isinstance(given, dict):
            raise SufficeFileError(f"{name} has no settings.")
        settings = {key: self.decode(part) for key, part in given.items()}
        try:
            made = family(**settings)
            hash(made)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise SufficeFileError(f"{name} does not accept its settings: {error}") from error
        return made

    def _class(self, held: Any) -> type[Family]:
        if not isinstance(held, str):
            raise SufficeFileError("a family has no name.")
        if held not in self.families:
            raise SufficeFileError(
                f"the file needs the family {held!r}, which suffice does not have; if it is yours, pass it: "
                f"suffice.load(path, known=[{held if held.isidentifier() else '…'}])."
            )
        return self.families[held]

    def _function(self, held: Any) -> Callable[..., Any]:
        if not isinstance(held, str):
            raise SufficeFileError("a function has no name.")
        if held not in self.functions:
            raise SufficeFileError(
                f"the file needs the function {held!r}, and files hold no code; pass yours: "
                f"suffice.load(path, known=[{held if held.isidentifier() else '…'}])."
            )
        return self.functions[held]


TAGS = {"$float", "$tuple", "$set", "$map", "$array", "$family", "$class", "$function"}


def _list(held: Any, length: int | None = None) -> list[Any]:
    if not isinstance(held, list) or (length is not None and len(held) != length):
        raise SufficeFileError(f"a list{'' if length is None else f' of {length} parts'} was expected.")
    return held


def _one_of(held: Any, choices: tuple[str, ...]) -> str:
    if not (isinstance(held, str) and held in choices):
        raise SufficeFileError(f"one of {choices} was expected, not {held!r}.")
    return held
