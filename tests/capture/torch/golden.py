"""Executes a recorded program's data flow with the real operations, and compares it with the real run.

The basic idea: the program lies where the run had its tensors (`--addresses`), so its operands are
addresses. Each dispatch gets storages full of poison, into which only the bytes come that the program
says it reads; the real operation runs on them; only the bytes go back that the program says it
writes. What the program does not say is so found at the dispatch where it matters: a read that is
missing reads poison, a mutation that is missing leaves old bytes, a wrong alias is at another address.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set, Tuple

import torch

from observed_run import ObservedRun, Operation, Tensor, bytes_at, has_byte, mapped, stand_ins
from recorded_program import Range, RecordedProgram, Statement, split_operands

kPoison = 0xFF  # A float32 of these bytes is a NaN, an index is -1.
kOtherPoison = 0xFE
kArrivalKernel = "Host.tensor"


class Difference(NamedTuple):
    label: str
    what: str


class Machine:
    """The memory of the program, and which of its bytes have a value."""

    def __init__(self, program: RecordedProgram, bases: Sequence[int]):
        self.program = program
        self.bytes = {name: bytearray([kPoison]) * size for name, size in program.memories.items()}
        self.is_known = {name: bytearray(size) for name, size in program.memories.items()}
        self.bases = dict(zip(program.memories, bases))

    def find(self, address: int, size: int) -> Optional[Tuple[str, int]]:
        """Returns the memory and offset of a storage, if some tensor of the program has all of it."""
        for name, begin, end in self.program.tensors.values():
            base = self.bases[name]
            if base + begin <= address and address + size <= base + end:
                return name, address - base
        return None

    def forget(self, memory: str, begin: int, end: int) -> None:
        self.bytes[memory][begin:end] = bytes([kPoison]) * (end - begin)
        self.is_known[memory][begin:end] = bytes(end - begin)

    def set(self, memory: str, begin: int, data: bytes) -> None:
        self.bytes[memory][begin : begin + len(data)] = data
        self.is_known[memory][begin : begin + len(data)] = b"\1" * len(data)


def _overlap(a: Tuple[int, int], b: Tuple[int, int]) -> Tuple[int, int]:
    return max(a[0], b[0]), min(a[1], b[1])


def _run_again(machine: Machine, operation: Operation, reads: List[Range],
               poison: int = kPoison) -> Tuple[Any, Dict]:
    """Runs the operation on fresh storages. Returns its result, and the storage of each address."""
    fresh: Dict[Tuple[int, int], torch.Tensor] = {}

    def storage_for(tensor: Tensor) -> torch.Tensor:
        key = (tensor.address, tensor.size_bytes)
        if tensor.size_bytes == 0:  # No two of them are one storage.
            return torch.empty(0, dtype=torch.uint8)
        if key not in fresh:
            data = torch.full((tensor.size_bytes,), poison, dtype=torch.uint8)
            for memory, begin, end in reads:
                base = machine.bases[memory]
                low, high = _overlap((base + begin, base + end), (key[0], key[0] + key[1]))
                if low < high:
                    part = machine.bytes[memory][low - base : high - base]
                    data[low - key[0] : high - key[0]] = torch.frombuffer(part, dtype=torch.uint8)
            fresh[key] = data
        return fresh[key]

    def rebuilt(tensor: Tensor) -> torch.Tensor:
        empty = torch.empty(0, dtype=tensor.dtype)
        source = storage_for(tensor).storage().untyped()
        return empty.set_(source, tensor.offset, tensor.sizes, tensor.strides)

    args, kwargs = mapped(operation.args, rebuilt), mapped(operation.kwargs, rebuilt)
    torch.set_rng_state(operation.random_state)
    with torch.no_grad():
        return operation.function(*args, **kwargs), fresh


def _bytes_of(data: torch.Tensor) -> bytes:
    return bytes_at(data.data_ptr(), data.numel())


def _effects(operation: Operation, result: Any, fresh: Dict) -> Dict[Tuple[int, int], bytes]:
    """Returns the bytes of each storage after the operation ran again, where the run had it."""
    after = {key: _bytes_of(data) for key, data in fresh.items()}
    where = stand_ins(operation.result)
    results: List[torch.Tensor] = []
    mapped(result, lambda tensor: results.append(tensor) or tensor)
    for place, tensor in zip(where, results):
        key = (place.address, place.size_bytes)
        if key not in fresh and place.size_bytes:
            storage = torch.empty(0, dtype=torch.uint8).set_(tensor.storage().untyped())
            after[key] = _bytes_of(storage)
    return after


# What a partial dispatch leaves as it was keeps any poison.
def _untouched(machine: Machine, operation: Operation, reads: List[Range], effects: Dict) -> Dict:
    result, fresh = _run_again(machine, operation, reads, kOtherPoison)
    others = _effects(operation, result, fresh)
    return {
        key: {i for i in range(len(data)) if (data[i], others[key][i]) == (kPoison, kOtherPoison)}
        for key, data in effects.items()
    }


def execute(machine: Machine, statement: Statement, operation: Operation, reads: List[Range],
            writes: List[Range]) -> Optional[Difference]:
    """Executes a dispatch as far as it is declared. Returns what is not as the real run left it."""
    try:
        result, fresh = _run_again(machine, operation, reads)
        effects = _effects(operation, result, fresh)
        untouched = _untouched(machine, operation, reads, effects) if statement.is_partial else {}
    except (RuntimeError, IndexError) as error:
        return Difference(statement.label, f"poison is no operand: {str(error).splitlines()[0]}")
    for memory, begin, end in writes:
        base = machine.bases[memory]
        for (address, size), data in effects.items():
            low, high = _overlap((base + begin, base + end), (address, address + size))
            kept = untouched.get((address, size), set())
            if not kept and low < high:
                machine.set(memory, low - base, data[low - address : high - address])
            for at in range(low, high if kept else low):
                if at - address not in kept:
                    machine.set(memory, at - base, data[at - address :][:1])
    if isinstance(operation.result, (bool, int, float)) and result != operation.result:
        return Difference(statement.label, f"the result is {result}, not {operation.result}")
    return _compare(machine, statement, operation)


# All bytes of the storages that the operation had, as they are in the real run: those that have a
# value, and those of results, which must have one.
def _compare(machine: Machine, statement: Statement, operation: Operation) -> Optional[Difference]:
    results = stand_ins(operation.result)
    for (address, size), real in operation.after.items():
        place = machine.find(address, size) if size else None
        if place is None:
            if size and operation.before.get((address, size)) != real:
                return Difference(statement.label, "a storage that the program lacks has changed")
            continue
        memory, begin = place
        ours = machine.bytes[memory][begin : begin + size]
        known = machine.is_known[memory][begin : begin + size]
        if ours == real and 0 not in known:
            continue
        had = operation.before.get((address, size))
        for i in range(size):
            if known[i] and ours[i] != real[i]:
                what = f"byte {i} of {size} differs at {memory}+{begin}"
                return Difference(statement.label, what)
            if known[i]:
                continue
            if had is None:
                is_changed = any(t.address == address and has_byte(t, i) for t in results)
            else:
                is_changed = had[i] != real[i]
            if is_changed:
                what = f"byte {i} of {size} at {memory}+{begin} is not written"
                return Difference(statement.label, what)
    return None


class Replay(NamedTuple):
    differences: List[Difference]
    dropped: Dict[str, int]  # Operands left out, by what they are.
    missed: Dict[str, Set[str]]  # Kernels of those that nothing found.
    kernels: Set[str]


def replay(program: RecordedProgram, run: ObservedRun, bases: Sequence[int],
           drops_operands: bool) -> Replay:
    """Executes the whole program, whose memories were at `bases`.

    With `drops_operands` also each dispatch once without each of its operands, to see whether that is
    found; the memory it touches is put back.
    """
    machine = Machine(program, bases)
    operations = {o.label: o for o in run.operations if o.label is not None}
    order = {o.label: index for index, o in enumerate(run.operations) if o.label is not None}
    outcome = Replay([], {"read": 0, "write": 0}, {"read": set(), "write": set()}, set())
    last = -1
    for statement in program.statements:
        if statement.kind == "free":
            machine.forget(*statement.reads[0])
        if statement.kind != "dispatch":
            continue
        if statement.kernel == kArrivalKernel:
            _arrive(machine, statement, run.operations[last + 1 :])
            continue
        outcome.kernels.add(statement.kernel)
        operation = operations[statement.label]
        if order[statement.label] <= last:
            outcome.differences.append(Difference(statement.label, "it did not run in this order"))
        last = order[statement.label]
        if drops_operands:
            _drop_each(machine, statement, operation, outcome)
        difference = execute(machine, statement, operation, statement.reads, statement.writes)
        if difference is not None:
            outcome.differences.append(difference)
    return outcome


# The bytes that the host made are those which the next operation that has them finds there.
def _arrive(machine: Machine, statement: Statement, later: List[Operation]) -> None:
    (memory, begin, end) = statement.writes[0]
    base = machine.bases[memory]
    missing = set(range(begin, end))
    for operation in later:
        for (address, size), data in operation.before.items():
            low, high = _overlap((base + begin, base + end), (address, address + size))
            for position in missing.intersection(range(low - base, high - base)):
                machine.set(memory, position, data[base + position - address :][:1])
                missing.remove(position)
        if not missing:
            return
    raise AssertionError(f"nobody uses {statement.line}")


def _changes(machine: Machine, operation: Operation, written: Range) -> bool:
    base = machine.bases[written.memory]
    for (address, size), before in operation.before.items():
        low, high = _overlap((base + written.begin, base + written.end), (address, address + size))
        part = slice(low - address, high - address)
        if low < high and before[part] != operation.after[(address, size)][part]:
            return True
    return any(key not in operation.before for key in operation.after)


def _drop_each(machine: Machine, statement: Statement, operation: Operation,
               outcome: Replay) -> None:
    touched = {r.memory for r in statement.reads + statement.writes}
    for kind, dropped in split_operands(statement):
        kept_bytes = {name: bytes(machine.bytes[name]) for name in touched}
        kept_known = {name: bytes(machine.is_known[name]) for name in touched}
        for side in ("read", "write") if kind == "update" else (kind,):
            reads = [r for r in statement.reads if side != "read" or r != dropped]
            writes = [r for r in statement.writes if side != "write" or r != dropped]
            if side == "write" and not _changes(machine, operation, dropped):
                continue  # zero_() of zeros, for one.
            outcome.dropped[side] += 1
            if execute(machine, statement, operation, reads, writes) is None:
                outcome.missed[side].add(statement.kernel)
            for name in touched:
                machine.bytes[name][:] = kept_bytes[name]
                machine.is_known[name][:] = kept_known[name]
