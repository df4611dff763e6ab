"""The recorder: a dispatch mode that sees each operation below autograd, and what it does to memory.

Autograd takes the mode along to threads of its own; threads that the script starts get it here. One
lock orders the operations, so that the file has them in the order in which they ran.
"""

import gc
import threading
from collections import Counter
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from interlock.torch import operations
from interlock.torch.byte_ranges import Operand, Shape, bounds_of, exact_ranges, rows_of, shape_of
from interlock.torch.names import ModulePaths, UniqueNames, word_of
from interlock.torch.storages import Storage, StorageTable
from interlock.torch.streams import Streams

kOperationCountMax = 1_000_000
kOperandCountMax = 256  # Of the format, for a dispatch.
kRunCountMax = 64  # A strided tensor of more runs is bounded by one range.
kOperationsBetweenCollections = 1000


class Access(NamedTuple):
    storage: Storage
    operand: Operand
    mode: str  # "reads", "writes" or "updates".


class Dispatch(NamedTuple):
    label: str
    kernel: str
    accesses: List[Access]
    is_partial: bool
    queue: str


class Arrival(NamedTuple):
    """Bytes that no operation has written are there: of a tensor made of Python's numbers, if
    `is_made`, else of somebody else's memory, or from before the recording."""

    storage: Storage
    is_made: bool


class Free(NamedTuple):
    storage: Storage


class Sync(NamedTuple):
    text: str


class _Mode(TorchDispatchMode):
    def __init__(self, recorder: "Recorder"):
        super().__init__()
        self._recorder = recorder

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return self._recorder.run(func, args, kwargs or {})


class Recorder:
    """Records between start() and stop(). `statements` is then what happened, in order.

    `strides` is "ranges" (exact up to 64 runs, then one range from first to last byte) or "rows".
    `observer`, if there is one, is told of each operation: before(operation, args, kwargs), and
    after(operation, result, dispatch), with dispatch None where no byte was touched.
    """

    def __init__(self, strides: str = "ranges", operation_count_max: int = kOperationCountMax,
                 observer: Optional[Any] = None):
        self.strides = strides
        self.operation_count_max = operation_count_max
        self.observer = observer
        self.table = StorageTable()
        self.statements: List[Any] = []
        self.counts: Counter = Counter()
        self.not_understood: Counter = Counter()
        self.is_full = False
        self.live_at_end: List[Storage] = []
        self.streams = Streams(self.add_sync)
        self._labels = UniqueNames()
        self._paths = ModulePaths()
        self._lock = threading.RLock()
        self._mode: Optional[_Mode] = None
        self._thread_run: Optional[Callable] = None

    # --- Begin and end ---------------------------------------------------------------------------

    def start(self) -> None:
        gc.collect()
        gc.freeze()
        gc.disable()  # Collections at times of their own would free at times of their own.
        self._paths.install()
        self.streams.install()
        self._thread_run = threading.Thread.run
        recorder, original = self, self._thread_run

        def run(thread):
            with _Mode(recorder):
                original(thread)

        threading.Thread.run = run
        self._mode = _Mode(self)
        self._mode.__enter__()

    def stop(self) -> None:
        self._mode.__exit__(None, None, None)
        threading.Thread.run = self._thread_run
        self.streams.remove()
        self._paths.remove()
        gc.enable()
        gc.unfreeze()
        with self._lock:
            self._end_values()
            self.live_at_end = self.table.live()
            overlaps = self.table.partial_overlap_count
            if overlaps:
                self.not_understood["storages that overlap in part"] += overlaps

    # --- An operation ----------------------------------------------------------------------------

    def run(self, operation: Any, args: Tuple, kwargs: dict) -> Any:
        if self.is_full or not operations.is_operation(operation):
            return operation(*args, **kwargs)
        with self._lock:
            if not hasattr(operation, "_schema"):
                self.not_understood[f"{operation} (no schema)"] += 1
                return operation(*args, **kwargs)
            before = self._understand(operation, lambda: self._before(operation, args, kwargs))
            result = operation(*args, **kwargs)
            dispatch = None
            if before is not None:
                dispatch = self._understand(
                    operation, lambda: self._after(operation, before, args, kwargs, result)
                )
            if self.observer is not None and before is not None:
                self.observer.after(operation, result, dispatch)
            return result

    def add_sync(self, text: str) -> None:
        with self._lock:
            self.statements.append(Sync(text))

    # What the recorder gets wrong must not end a script that would have run.
    def _understand(self, operation: Any, step: Callable) -> Any:
        try:
            return step()
        except Exception as error:  # pylint: disable=broad-except
            kernel = operations.kernel_name(operation)
            self.not_understood[f"{kernel} ({type(error).__name__})"] += 1
            return None

    def _before(self, operation: Any, args: Tuple, kwargs: dict) -> Optional[Dict]:
        if self.counts["operations"] >= self.operation_count_max:
            self.is_full = True
            return None
        self.counts["operations"] += 1
        if self.counts["operations"] % kOperationsBetweenCollections == 0:
            gc.collect()
        self._end_values()
        if self.observer is not None:
            self.observer.before(operation, args, kwargs)
        reads, known = [], set()
        uses = operations.uses_of_arguments(operation, args, kwargs)
        for use in uses:
            if not _has_bytes(use.tensor):
                self._count_strange(operation, use.tensor)
                continue
            is_made = operations.schema_name(operation) == "aten::lift_fresh"
            known.add(self._find_or_add(use.tensor, is_made).index)
            if use.is_read and not use.is_written:
                reads += self._accesses(use.tensor, "reads")
        return {"uses": uses, "reads": reads, "known": known}

    def _after(self, operation: Any, before: Dict, args: Tuple, kwargs: dict,
               result: Any) -> Optional[Dispatch]:
        writes: List[Access] = []
        for use in before["uses"]:
            if use.is_written and _has_bytes(use.tensor):
                writes += self._accesses(use.tensor, "updates" if use.is_read else "writes")
        is_written = operations.results_are_written(operation)
        results = [result] if isinstance(result, torch.Tensor) else result
        for tensor in operations.tensors_in(results):
            if not _has_bytes(tensor):
                self._count_strange(operation, tensor)
                continue
            place = self.table.place_of(tensor, is_external=False)
            if place.storage.index in before["known"]:
                continue
            self._name(place.storage, operation)
            if is_written:
                writes += self._accesses(tensor, "writes")
        if not writes and operations.base_name(operation) not in operations.kHostScalars:
            self.counts["views" if before["known"] else "allocations"] += 1
            return None
        return self._add(operation, before["reads"], writes, (args, kwargs, results))

    def _add(self, operation: Any, reads: List[Access], writes: List[Access],
             values: Tuple) -> Optional[Dispatch]:
        accesses = _merged(reads, writes)
        is_partial = any(
            access.mode == "writes" and access.operand.rows < 0 for access in accesses
        )
        accesses = [
            access._replace(operand=access.operand._replace(rows=1))
            if access.operand.rows < 0
            else access
            for access in accesses
        ]
        if not accesses:
            return None
        label = self._labels.take(self._name_of(operation, accesses))
        queue = self.streams.queue_of(*values)
        dispatch = Dispatch(label, operations.kernel_name(operation), accesses, is_partial, queue)
        if len(accesses) > kOperandCountMax:
            self._add_in_parts(dispatch)
        else:
            self.statements.append(dispatch)
        self.streams.after_operation(operation, *values, queue)
        for access in accesses:
            access.storage.is_used = True
            if access.mode != "reads":
                access.storage.written.add(access.operand.begin, access.operand.end)
        self.counts["dispatches"] += 1
        return dispatch

    # An operation on lists of tensors can have more operands than a dispatch. Its parts read and
    # write in turn: what all of it writes, no part writes alone.
    def _add_in_parts(self, dispatch: Dispatch) -> None:
        self.counts["operations in parts"] += 1
        writes = [a for a in dispatch.accesses if a.mode != "reads"]
        reads = [a for a in dispatch.accesses if a.mode == "reads"]
        part_count = -(-len(dispatch.accesses) // (kOperandCountMax // 2))
        for part in range(part_count):
            some = reads[part::part_count] + writes[part::part_count]
            if len(writes) <= kOperandCountMax // 2:
                some = reads[part::part_count] + writes
            label = dispatch.label if part == 0 else self._labels.take(dispatch.label)
            is_partial = dispatch.is_partial or len(writes) <= kOperandCountMax // 2
            self.statements.append(Dispatch(label, dispatch.kernel, some, is_partial, dispatch.queue))

    # --- Memory ----------------------------------------------------------------------------------

    def _find_or_add(self, tensor: torch.Tensor, is_made: bool) -> Storage:
        count = len(self.table.storages)
        storage = self.table.place_of(tensor, is_external=True).storage
        if len(self.table.storages) > count:
            self.statements.append(Arrival(storage, is_made))
        return storage

    def _accesses(self, tensor: torch.Tensor, mode: str) -> List[Access]:
        place = self.table.place_of(tensor, is_external=False)
        shape = shape_of(
            tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.element_size()
        )
        if shape is None:
            return []
        if place.offset_bytes:
            shape = shape._replace(begin=shape.begin + place.offset_bytes)
        return [Access(place.storage, operand, mode) for operand in self._operands(shape)]

    # A bounding range has `rows` of -1 until the dispatch is made: what it writes is partial.
    def _operands(self, shape: Shape) -> List[Operand]:
        if not shape.outer:
            return bounds_of(shape)
        exact = (
            rows_of(shape, kRunCountMax)
            if self.strides == "rows"
            else exact_ranges(shape, kRunCountMax)
        )
        if exact is not None:
            self.counts["strided, exact"] += 1
            return exact
        self.counts["strided, bounded"] += 1
        return [operand._replace(rows=-1) for operand in bounds_of(shape)]

    def _end_values(self) -> None:
        for tensor, name in self._paths.take_parameters():
            if not _has_bytes(tensor):
                continue
            storage = self._find_or_add(tensor, is_made=False)
            storage.name_hint, storage.is_parameter = name, True
        for storage in self.table.take_expired():
            if storage.is_used:
                self.statements.append(Free(storage))

    def _name(self, storage: Storage, operation: Any) -> None:
        if not storage.name_hint:
            storage.name_hint = word_of(self._name_of(operation, []))

    # Outside of modules, in an optimizer, the parameter that is updated tells more than nothing.
    def _name_of(self, operation: Any, accesses: List[Access]) -> str:
        path, base = self._paths.current(), operations.base_name(operation)
        if not path:
            updated = (a.storage for a in accesses if a.mode == "updates" and a.storage.is_parameter)
            path = next((storage.name_hint for storage in updated), "")
        return f"{path}.{base}" if path else base

    def _count_strange(self, operation: Any, tensor: torch.Tensor) -> None:
        if tensor.device.type != "meta" and tensor.layout != torch.strided:
            kernel = operations.kernel_name(operation)
            self.not_understood[f"{tensor.layout} operand of {kernel}"] += 1


def _has_bytes(tensor: torch.Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type != "meta"


# An operand that is read twice is read; one that is read and updated is updated.
def _merged(reads: List[Access], writes: List[Access]) -> List[Access]:
    merged: Dict[Tuple, Access] = {}
    updated = {(w.storage.index, w.operand) for w in writes if w.mode == "updates"}
    for access in reads + writes:
        place = (access.storage.index, access.operand)
        if access.mode == "reads" and place in updated:
            continue
        merged.setdefault((access.mode, *place), access)
    order = {"reads": 0, "writes": 1, "updates": 2}
    return sorted(merged.values(), key=lambda access: order[access.mode])
