"""Which bytes a strided tensor has.

The basic idea is that the dimensions, from the smallest stride up, first make one run of bytes
without gaps; those that leave gaps repeat this run. So a transposed or permuted tensor is one run,
and a column slice is as many as it has rows.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple


class Operand(NamedTuple):
    """Bytes [begin, end); with `rows` above 1, that many runs of `width` bytes, `pitch` apart."""

    begin: int
    end: int
    rows: int = 1
    pitch: int = 0
    width: int = 0


class Shape(NamedTuple):
    """`width` bytes from `begin` on, repeated along each of `outer`, (pitch, count) each, by pitch."""

    begin: int
    width: int
    outer: List[Tuple[int, int]]

    @property
    def end(self) -> int:
        return self.begin + self.width + sum(pitch * (count - 1) for pitch, count in self.outer)

    @property
    def run_count(self) -> int:
        product = 1
        for _, count in self.outer:
            product *= count
        return product


def shape_of(
    offset: int, sizes: Sequence[int], strides: Sequence[int], item_bytes: int
) -> Optional[Shape]:
    """Returns the bytes of a tensor, relative to its storage; None if it has no elements.

    `offset` and `strides` count elements; strides are not negative, as PyTorch has it.
    """
    if any(size == 0 for size in sizes):
        return None
    dimensions = sorted(
        (stride, size) for stride, size in zip(strides, sizes) if size > 1 and stride > 0
    )
    width = 1
    outer: List[Tuple[int, int]] = []
    for stride, size in dimensions:
        if not outer and stride <= width:
            width += stride * (size - 1)
        elif outer and stride == outer[-1][0] * outer[-1][1]:
            outer[-1] = (outer[-1][0], outer[-1][1] * size)
        else:
            outer.append((stride, size))
    return Shape(
        offset * item_bytes,
        width * item_bytes,
        [(stride * item_bytes, size) for stride, size in outer],
    )


def _begins(shape: Shape, outer: Sequence[Tuple[int, int]]) -> List[int]:
    begins = [shape.begin]
    for pitch, count in outer:
        begins = [begin + pitch * i for begin in begins for i in range(count)]
    return sorted(begins)


def exact_ranges(shape: Shape, count_max: int) -> Optional[List[Operand]]:
    """Returns the runs of `shape`, merged where they touch; None if there are more than `count_max`."""
    if shape.run_count > count_max:
        return None
    operands: List[Operand] = []
    for begin in _begins(shape, shape.outer):
        end = begin + shape.width
        if operands and begin <= operands[-1].end:
            operands[-1] = Operand(operands[-1].begin, max(end, operands[-1].end))
        else:
            operands.append(Operand(begin, end))
    return operands


def rows_of(shape: Shape, count_max: int) -> Optional[List[Operand]]:
    """Returns `shape` as rows of bytes; None if more than `count_max` operands were needed."""
    if not shape.outer:
        return [Operand(shape.begin, shape.begin + shape.width)]
    (pitch, rows), others = shape.outer[0], shape.outer[1:]
    operand_count = shape.run_count // rows
    if operand_count > count_max:
        return None
    size = pitch * (rows - 1) + shape.width
    return [Operand(b, b + size, rows, pitch, shape.width) for b in _begins(shape, others)]


def bounds_of(shape: Shape) -> List[Operand]:
    """Returns the one range from the first byte of `shape` to its last."""
    return [Operand(shape.begin, shape.end)]


class Coverage:
    """Which bytes have been written: disjoint ranges in order."""

    def __init__(self) -> None:
        self._ranges: List[Tuple[int, int]] = []

    def add(self, begin: int, end: int) -> None:
        kept = []
        for low, high in self._ranges:
            if high < begin or low > end:
                kept.append((low, high))
            else:
                begin, end = min(begin, low), max(end, high)
        kept.append((begin, end))
        self._ranges = sorted(kept)

    def has(self, begin: int, end: int) -> bool:
        return begin >= end or any(low <= begin and end <= high for low, high in self._ranges)
