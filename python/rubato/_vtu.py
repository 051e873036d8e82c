"""VTU files as rubato writes them (raw appended arrays, compressed or not), into numpy arrays."""

from __future__ import annotations

import os
import re
import zlib
from typing import Any
from xml.parsers import expat

import numpy as np

from . import _rubato

TYPES = {"Float64": "<f8", "Float32": "<f4", "Int64": "<i8", "Int32": "<i4", "UInt8": "<u1", "UInt64": "<u8",
         "Int8": "<i1", "UInt32": "<u4", "Int16": "<i2", "UInt16": "<u2"}
CELLS = {10: ("tets", 4), 5: ("triangles", 3), 3: ("edges", 2), 1: ("points", 1)}


def _head(data: bytes, path: str) -> tuple[list[tuple[str, dict[str, str]]], int, bool]:
    """Elements of the XML head, where the appended data begins, and whether it is compressed."""
    found = re.search(rb'<AppendedData[^>]*encoding="raw"[^>]*>\s*_', data)
    if not found:
        raise _rubato.Error(f"{path}: has no raw appended data, so it is no frame of rubato")
    elements: list[tuple[str, dict[str, str]]] = []
    stack: list[str] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        stack.append(name)
        elements.append((stack[-2] if len(stack) > 1 else "", {"": name, **attributes}))

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: stack.pop()
    try:
        parser.Parse(data[:found.start()], False)
    except expat.ExpatError as trouble:
        raise _rubato.Error(f"{path}: {trouble}") from None
    whole = next((a for _, a in elements if a[""] == "VTKFile"), {})
    if whole.get("header_type") != "UInt64" or whole.get("byte_order") != "LittleEndian":
        raise _rubato.Error(f"{path}: is no VTU file with 64-bit heads in little endian, as rubato writes them")
    return elements, found.end(), "compressor" in whole


def _unpack(data: memoryview, at: int, compressed: bool, path: str) -> Any:
    def heads(count: int, place: int) -> list[int]:
        if place + 8 * count > len(data):
            raise _rubato.Error(f"{path}: is cut short")
        return [int(v) for v in np.frombuffer(data, "<u8", count, place)]

    if not compressed:
        size, = heads(1, at)
        if at + 8 + size > len(data):
            raise _rubato.Error(f"{path}: is cut short")
        return data[at + 8:at + 8 + size]
    blocks, block_size, last = heads(3, at)
    if blocks > len(data) or block_size > 1 << 30 or last > block_size:
        raise _rubato.Error(f"{path}: has {blocks} blocks of {block_size} bytes, which cannot be")
    sizes, at = heads(blocks, at + 24), at + 24 + 8 * blocks
    parts: list[bytes] = []
    for i, size in enumerate(sizes):
        wanted = last if last and i == blocks - 1 else block_size
        if at + size > len(data):
            raise _rubato.Error(f"{path}: is cut short")
        try:
            stream = zlib.decompressobj()
            part = stream.decompress(data[at:at + size], wanted + 1)
        except zlib.error as trouble:
            raise _rubato.Error(f"{path}: {trouble}") from None
        if len(part) != wanted:
            raise _rubato.Error(f"{path}: a block has {len(part)} bytes instead of {wanted}")
        parts.append(part)
        at += size
    return b"".join(parts)


def _array(data: memoryview, at: int, attributes: dict[str, str], compressed: bool, path: str) -> np.ndarray:
    try:
        kind, offset = TYPES[attributes["type"]], int(attributes["offset"])
        columns = int(attributes.get("NumberOfComponents", 1))
    except (KeyError, ValueError):
        raise _rubato.Error(f"{path}: an array has no type, or no place") from None
    if offset < 0 or columns < 1:
        raise _rubato.Error(f"{path}: an array has {columns} components at {offset}")
    values = _unpack(data, at + offset, compressed, path)
    if len(values) % (np.dtype(kind).itemsize * columns):
        raise _rubato.Error(f"{path}: an array of {len(values)} bytes has no whole number of values")
    array = np.frombuffer(values, kind)
    array = array.reshape(-1, columns) if columns > 1 else array
    return array.copy()


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """{"time": …, "x": (n x 3), "tets": …, "triangles": …, "edges": …, "points": …, fields by name}.

    Cells are node numbers; a field of the cells covers tets, triangles, edges and points in this order.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as trouble:
        raise _rubato.Error(f"{path}: {trouble.strerror}") from None
    elements, at, compressed = _head(data, path)
    view = memoryview(data)
    result: dict[str, Any] = {"time": 0.0}
    cells: dict[str, np.ndarray] = {}
    for parent, attributes in elements:
        if attributes[""] != "DataArray":
            continue
        array, name = _array(view, at, attributes, compressed, path), attributes.get("Name", "")
        if parent == "FieldData" and name == "TimeValue" and array.size:
            result["time"] = float(array.ravel()[0])
        elif parent == "Points":
            result["x"] = array.astype(np.float64)
        elif parent == "Cells":
            cells[name] = array.ravel()
        elif parent in ("PointData", "CellData"):
            result[name] = array
    if "x" not in result or result["x"].ndim != 2 or result["x"].shape[1] != 3:
        raise _rubato.Error(f"{path}: has no points")
    _sort_cells(cells, result, path)
    return result


def _sort_cells(cells: dict[str, np.ndarray], result: dict[str, Any], path: str) -> None:
    types, ends, corners = (cells.get(n, np.zeros(0, np.int32)) for n in ("types", "offsets", "connectivity"))
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    if len(types) != len(ends) or (len(ends) and (np.any(ends < starts) or ends[-1] != len(corners))):
        raise _rubato.Error(f"{path}: its cells do not fit together")
    if len(corners) and (corners.min() < 0 or corners.max() >= len(result["x"])):
        raise _rubato.Error(f"{path}: a cell has the point {corners.max()}, but there are {len(result['x'])}")
    for kind, (name, count) in CELLS.items():
        which = np.flatnonzero(types == kind)
        if len(which) and np.any(ends[which] - starts[which] != count):
            raise _rubato.Error(f"{path}: {name} do not have {count} corners")
        result[name] = corners[starts[which][:, None] + np.arange(count)].astype(np.int32)
