"""Numbers between Python, numpy and JSON."""

from __future__ import annotations

import os
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """The value with numpy's arrays and numbers, tuples and paths as JSON has them."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def whole_numbers(value: Any, what: str) -> np.ndarray:
    """An array of int32; TypeError for anything that is not whole numbers, ValueError for numbers beyond its range."""
    array = np.asarray(value)
    if array.size == 0:
        return array.astype(np.int32)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be whole numbers, not an array of {array.dtype}")
    if array.max() > np.iinfo(np.int32).max or array.min() < np.iinfo(np.int32).min:
        raise ValueError(f"{what} has a number beyond 32 bits: {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int32)


def real_numbers(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """A C-contiguous array of float64 with this shape; TypeError and ValueError otherwise."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{what} must be an array of real numbers, not of {array.dtype}")
    if array.shape != shape:
        raise ValueError(f"{what} must have the shape {shape}, not {array.shape}")
    return np.ascontiguousarray(array, dtype=np.float64)
