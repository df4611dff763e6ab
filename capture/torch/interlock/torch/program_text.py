"""The recording as program text (docs/format.md).

Storages are tensors without a place, so that a planner can choose one; with `addresses` they lie
where the run had them, in memories that are the blocks of addresses it used. On one stream each
operation waits for the one before, as PyTorch promises: a full barrier stands between any two, and an
encoder may replace them by fewer. Several streams are queues.
"""

import math
import os
from bisect import bisect_right
from collections import Counter
from typing import Any, Dict, Iterator, List, Optional, TextIO, Tuple

import torch

from interlock.torch.byte_ranges import Operand
from interlock.torch.names import UniqueNames
from interlock.torch.recorder import Access, Arrival, Dispatch, Free, Recorder, Sync
from interlock.torch.storages import Storage
from interlock.torch.streams import kHostQueue

_kDTypes = {torch.float32: "f32", torch.int32: "i32"}
_kExtentCountMax = 8
kArrivalKernel = "Host.tensor"


def _declared_type(storage: Storage) -> Tuple[str, str]:
    """Returns type and extents as the format has them, and as PyTorch has them where they differ."""
    item_bytes = torch.empty((), dtype=storage.dtype).element_size()
    element_count = storage.size_bytes // item_bytes
    sizes = storage.sizes
    product = 1
    for size in sizes:
        product *= size
    if product != element_count:
        sizes = (element_count,)  # It has grown since.
    true_type = f"{str(storage.dtype)[len('torch.'):]}[{','.join(map(str, sizes))}]"
    word = _kDTypes.get(storage.dtype)
    if word is None or element_count * item_bytes != storage.size_bytes:
        return f"u8[{storage.size_bytes}]", true_type
    if len(sizes) > _kExtentCountMax:
        return f"{word}[{element_count}]", true_type
    return f"{word}[{','.join(map(str, sizes)) or '1'}]", ""


def _operand_text(name: str, size_bytes: int, operand: Operand) -> str:
    if operand.rows > 1:
        return (
            f"{name}[{operand.begin}:{operand.end} rows {operand.rows} "
            f"pitch {operand.pitch} width {operand.width}]"
        )
    if operand.begin == 0 and operand.end == size_bytes:
        return name
    return f"{name}[{operand.begin}:{operand.end}]"


class _Writer:
    def __init__(self, recorder: Recorder, addresses: bool, frees: bool):
        self._recorder = recorder
        self._frees = frees
        self._storages = used_storages(recorder)
        self._names: Dict[int, str] = {}
        self._views: Dict[Tuple[int, int, int], str] = {}
        self._unique = UniqueNames()
        self._memories = blocks_of(self._storages) if addresses else []
        queues = {s.queue for s in recorder.statements if isinstance(s, Dispatch)}
        self._has_queues = len(queues) > 1
        arrivals = [s for s in recorder.statements if isinstance(s, Arrival)]
        self._arriving = {a.storage.index for a in arrivals if self._is_written_on_arrival(a)}
        self._labels = UniqueNames()
        for statement in recorder.statements:
            if isinstance(statement, Dispatch):
                self._labels.take(statement.label)
        for storage in self._storages:
            self._names[storage.index] = self._unique.take(storage.name_hint or "input")

    def write(self, out: TextIO, title: str, error: Optional[BaseException]) -> None:
        out.write("interlock 1\n")
        for line in self._head(title, error):
            out.write(f"# {line}\n")
        for index, (_, size) in enumerate(self._memories):
            out.write(f"memory heap{index} {size}\n")
        for storage in self._storages:
            out.write(self._tensor(storage) + "\n")
        self._write_views(out)
        self._write_outputs(out)
        if self._has_queues:
            queues = dict(self._recorder.streams.declarations)
            if self._arriving:
                queues.setdefault(kHostQueue, "serial")
            for name, kind in queues.items():
                out.write(f"{name}: queue {kind}\n")
        needs_barrier = False
        for statement in self._statements():
            if isinstance(statement, Dispatch):
                if needs_barrier and not self._has_queues:
                    out.write("barrier\n")
                out.write(self._dispatch(statement) + "\n")
                if self._has_queues and statement.kernel == kArrivalKernel:
                    out.write(f"host idle on {kHostQueue}\n")
                needs_barrier = True
            elif isinstance(statement, Free) and self._frees:
                out.write(f"free {self._names[statement.storage.index]}\n")
            elif isinstance(statement, Sync) and self._has_queues:
                out.write(statement.text + "\n")

    # What the host has put on bytes that operations use before or after is written by a dispatch, as
    # everything else; what may have been there from the start is an initial value.
    def _statements(self) -> Iterator[Any]:
        for statement in self._recorder.statements:
            if not isinstance(statement, Arrival):
                yield statement
            elif statement.storage.is_used and self._is_written_on_arrival(statement):
                storage = statement.storage
                access = Access(storage, Operand(0, storage.size_bytes), "writes")
                label = f"{self._names[storage.index]}.arrives"
                yield Dispatch(self._labels.take(label), kArrivalKernel, [access], False, kHostQueue)

    def _is_written_on_arrival(self, arrival: Arrival) -> bool:
        return arrival.is_made or bool(self._memories)

    def _head(self, title: str, error: Optional[BaseException]) -> List[str]:
        recorder, counts = self._recorder, self._recorder.counts
        lines = [
            f"Recorded by interlock.torch{' from ' + title if title else ''} "
            f"with PyTorch {torch.__version__}.",
            f"{counts['operations']} operations: {counts['dispatches']} dispatches; "
            f"{counts['views']} that touch no byte (views), {counts['allocations']} that only allocate.",
            f"Strided tensors: {counts['strided, exact']} exact, "
            f"{counts['strided, bounded']} bounded by one range from first byte to last.",
            f"{len(self._arriving)} tensors that the host made are dispatches of {kArrivalKernel}; "
            "initial values stand for what was there before.",
        ]
        if counts["operations in parts"]:
            lines.append(
                f"{counts['operations in parts']} operations have more operands than a dispatch, and "
                "are several."
            )
        strange = recorder.not_understood
        for what in sorted(strange):
            lines.append(f"Not understood, {strange[what]} times: {what}.")
        if not strange:
            lines.append("Not understood: nothing.")
        if not self._frees:
            lines.append("Without frees: each tensor lives to the end, as far as this says.")
        if recorder.is_full:
            count = recorder.operation_count_max
            lines.append(f"Not all of the run: recording ended at operation {count}.")
        if error is not None:
            lines.append(f"Not all of the run: it ended with {type(error).__name__}.")
        return lines

    def _tensor(self, storage: Storage) -> str:
        declared, true_type = _declared_type(storage)
        line = f"tensor {self._names[storage.index]} {declared}"
        if self._memories:
            index = bisect_right(self._memories, (storage.address, math.inf)) - 1
            line += f" at heap{index}+{storage.address - self._memories[index][0]}"
        if storage.is_external and storage.index not in self._arriving:
            is_float = declared.startswith("f32")
            line += f" = random({storage.index})" if is_float else " = zeros"
        return f"{line}  # {true_type}" if true_type else line

    # A part of a storage that has no gaps gets a name, which findings then use.
    def _write_views(self, out: TextIO) -> None:
        counts: Counter = Counter()  # Of views, by storage.
        for statement in self._recorder.statements:
            for access in getattr(statement, "accesses", ()):
                storage, operand = access.storage, access.operand
                key = (storage.index, operand.begin, operand.end)
                is_whole = operand.begin == 0 and operand.end == storage.size_bytes
                if is_whole or operand.rows > 1 or key in self._views:
                    continue
                if counts[storage.index] >= 8:  # Rows of a strided tensor stay ranges.
                    continue
                counts[storage.index] += 1
                name = self._unique.take(f"{self._names[storage.index]}.view")
                self._views[key] = name
                size = operand.end - operand.begin
                word = _kDTypes.get(storage.dtype, "u8")
                if word != "u8" and (size % 4 or operand.begin % 4):
                    word = "u8"
                extent = size if word == "u8" else size // 4
                base = self._names[storage.index]
                out.write(f"tensor {name} {word}[{extent}] view {base}+{operand.begin}\n")

    def _write_outputs(self, out: TextIO) -> None:
        names = [
            self._names[storage.index]
            for storage in self._recorder.live_at_end
            if storage.is_used
            and (storage.is_external or storage.written.has(0, storage.size_bytes))
        ]
        for begin in range(0, len(names), 16):
            out.write(f"output {' '.join(names[begin : begin + 16])}\n")

    def _dispatch(self, dispatch: Dispatch) -> str:
        words = [f"{dispatch.label}: dispatch {dispatch.kernel}"]
        mode = ""
        for access in dispatch.accesses:
            if access.mode != mode:
                mode = access.mode
                words.append(mode)
            storage, operand = access.storage, access.operand
            view = self._views.get((storage.index, operand.begin, operand.end))
            if view is not None and operand.rows == 1:
                words.append(view)
            else:
                name = self._names[storage.index]
                words.append(_operand_text(name, storage.size_bytes, operand))
        if dispatch.is_partial:
            words.append("partial")
        if self._has_queues:
            words.append(f"on {dispatch.queue}")
        return " ".join(words)


def used_storages(recorder: Recorder) -> List[Storage]:
    """Returns the storages that some recorded operation touches, in the order of allocation."""
    return [storage for storage in recorder.table.storages if storage.is_used]


def blocks_of(storages: List[Storage]) -> List[Tuple[int, int]]:
    """Returns address and size of each block of addresses that storages had, overlaps merged."""
    blocks: List[List[int]] = []
    for begin, end in sorted((s.address, s.address + s.size_bytes) for s in storages):
        if blocks and begin < blocks[-1][1]:
            blocks[-1][1] = max(end, blocks[-1][1])
        else:
            blocks.append([begin, end])
    return [(begin, end - begin) for begin, end in blocks]


def write_program(recorder: Recorder, path: str, title: str = "",
                  error: Optional[BaseException] = None, addresses: bool = False,
                  frees: bool = True) -> None:
    """Writes what was recorded to `path`, without its `free` lines where `frees` is false.

    Requires: `frees`, where there are `addresses`, since storages follow each other at one of them.
    Errors: OSError; what was there before is still there then.
    """
    scratch = f"{path}.part"
    with open(scratch, "w", encoding="ascii", newline="\n") as out:
        _Writer(recorder, addresses, frees).write(out, title, error)
    os.replace(scratch, path)
