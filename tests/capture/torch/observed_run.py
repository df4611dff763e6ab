"""What a script really did: every operation with its arguments, addresses and bytes, before and after.

The observer of a recording sees operations where the recorder does, and understands none of it: it
copies. Only small scripts can be observed so.
"""

import ctypes
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch


class Tensor(NamedTuple):
    """Stands for a tensor among arguments: where its storage is, and how it lies there."""

    address: int
    size_bytes: int  # Of the storage.
    dtype: torch.dtype
    offset: int
    sizes: Tuple[int, ...]
    strides: Tuple[int, ...]


def bytes_at(address: int, size: int) -> bytes:
    return ctypes.string_at(address, size) if size else b""


def described(tensor: torch.Tensor) -> Tensor:
    storage = tensor.storage()
    return Tensor(
        storage.data_ptr(),
        storage.nbytes(),
        tensor.dtype,
        tensor.storage_offset(),
        tuple(tensor.size()),
        tuple(tensor.stride()),
    )


def mapped(value: Any, function) -> Any:
    """Returns `value` with function(tensor) for each tensor, or stand-in, in it."""
    if isinstance(value, (torch.Tensor, Tensor)):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(element, function) for element in value)
    if isinstance(value, dict):
        return {key: mapped(element, function) for key, element in value.items()}
    return value


def stand_ins(value: Any) -> List[Tensor]:
    found: List[Tensor] = []
    mapped(value, lambda tensor: found.append(tensor) or tensor)
    return found


def has_byte(tensor: Tensor, position: int) -> bool:
    """Returns whether a byte of a storage is between the first element of `tensor` and the last."""
    item_bytes = torch.empty((), dtype=tensor.dtype).element_size()
    extent = sum((size - 1) * stride for size, stride in zip(tensor.sizes, tensor.strides)) + 1
    begin = tensor.offset * item_bytes
    return 0 not in tensor.sizes and begin <= position < begin + extent * item_bytes


class Operation(NamedTuple):
    function: Any
    args: Any
    kwargs: Any
    random_state: torch.Tensor
    before: Dict[Tuple[int, int], bytes]  # By address and size of a storage among the arguments.
    after: Dict[Tuple[int, int], bytes]  # Likewise, and of results.
    result: Any
    label: Optional[str]  # Of the recorded dispatch.
    thread: int


class ObservedRun:
    def __init__(self) -> None:
        self.operations: List[Operation] = []
        self._begun: Optional[Tuple] = None

    def before(self, function: Any, args: Any, kwargs: Any) -> None:
        args, kwargs = mapped(args, described), mapped(kwargs, described)
        storages = {(t.address, t.size_bytes) for t in stand_ins((args, kwargs))}
        self._begun = (
            function,
            args,
            kwargs,
            torch.get_rng_state(),
            {storage: bytes_at(*storage) for storage in storages},
        )

    def after(self, function: Any, result: Any, dispatch: Any) -> None:
        assert self._begun is not None and self._begun[0] is function
        result = mapped(result, described)
        storages = set(self._begun[4])
        storages |= {(t.address, t.size_bytes) for t in stand_ins(result)}
        after = {storage: bytes_at(*storage) for storage in storages}
        label = dispatch.label if dispatch is not None else None
        self.operations.append(Operation(*self._begun, after, result, label, threading.get_ident()))
