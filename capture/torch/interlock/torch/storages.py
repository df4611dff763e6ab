"""Storages: which tensors share memory, and when that memory is given back.

The basic idea is that a weak reference to a storage tells when its last tensor is gone, also where
C++ held it, as autograd holds what it saved; Python's references to tensors tell neither. While the
weak reference is there, the storage's address of the C++ object is not used again, so it identifies.
"""

from typing import Dict, List, NamedTuple, Optional

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from interlock.torch.byte_ranges import Coverage


class Storage:
    """One allocation, as the program text has it: a tensor of bytes."""

    def __init__(self, index: int, address: int, size_bytes: int, is_external: bool):
        self.index = index
        self.address = address  # Where it is now: resize_() may move it.
        self.live_bytes = size_bytes  # What it has now.
        self.size_bytes = size_bytes  # The most that it had.
        self.is_external = is_external  # It was there before any recorded operation wrote it.
        self.is_used = False
        self.name_hint = ""
        self.is_parameter = False
        self.dtype = torch.uint8
        self.sizes = (size_bytes,)
        self.written = Coverage()
        self.references: List[StorageWeakRef] = []

    def is_expired(self) -> bool:
        return all(reference.expired() for reference in self.references)


class Place(NamedTuple):
    storage: Storage
    offset_bytes: int  # Of the tensor's storage in the one that is named.


def untyped_storage(tensor: torch.Tensor):
    """Returns the storage of `tensor` as bytes, in PyTorch 1.13 and in 2."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor.storage().untyped()


class StorageTable:
    def __init__(self) -> None:
        self.storages: List[Storage] = []
        self.partial_overlap_count = 0
        self._places: Dict[int, Place] = {}  # By the storage's C++ object.
        self._live: Dict[int, Storage] = {}  # By index, in the order of allocation.

    def place_of(self, tensor: torch.Tensor, is_external: bool) -> Place:
        """Returns where `tensor`'s storage is, a new one if it was not seen before.

        Errors: what PyTorch raises for tensors without a storage.
        """
        storage = untyped_storage(tensor)
        key = storage._cdata
        place = self._places.get(key)
        if place is None:
            place = self._add(tensor, storage, is_external)
            self._places[key] = place
        entry = place.storage
        if len(entry.references) == 1:
            entry.address, entry.live_bytes = storage.data_ptr(), storage.nbytes()
            entry.size_bytes = max(entry.size_bytes, entry.live_bytes)
        return place

    def live(self) -> List[Storage]:
        """Returns the storages that are not known to be gone, in the order of allocation."""
        return list(self._live.values())

    def take_expired(self) -> List[Storage]:
        """Returns the storages that are gone since the last call, in the order of allocation."""
        expired = [
            storage
            for storage in self._live.values()
            if storage.references[-1].expired() and storage.is_expired()  # The first says it of most.
        ]
        for storage in expired:
            del self._live[storage.index]
            for reference in storage.references:
                self._places.pop(reference.cdata, None)
            storage.references.clear()
        return expired

    def _add(self, tensor: torch.Tensor, storage, is_external: bool) -> Place:
        reference = StorageWeakRef(storage)
        begin, size = storage.data_ptr(), storage.nbytes()
        other = self._overlapping(begin, begin + size) if size else None
        if other is not None:
            other.references.append(reference)
            return Place(other, begin - other.address)
        entry = Storage(len(self.storages), begin, size, is_external)
        entry.references.append(reference)
        entry.dtype = tensor.dtype
        if tensor.numel() * tensor.element_size() == size and tensor.is_contiguous():
            entry.sizes = tuple(tensor.shape)
        else:
            entry.sizes = (size // tensor.element_size(),)
        self.storages.append(entry)
        self._live[entry.index] = entry
        return Place(entry, 0)

    # Two storages share bytes where both were made of one buffer of somebody else, as of an array of
    # NumPy. One that lies in the other is a part of it.
    def _overlapping(self, begin: int, end: int) -> Optional[Storage]:
        for other in self._live.values():
            other_end = other.address + other.live_bytes
            if begin >= other_end or other.address >= end:
                continue
            if other.address <= begin and end <= other_end:
                return other
            self.partial_overlap_count += 1
        return None
