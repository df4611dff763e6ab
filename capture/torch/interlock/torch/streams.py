"""Streams and events of CUDA, as queues and semaphores.

A stream is a serial queue, an event a semaphore whose value each record raises, and a wait is for the
value of the last record. What the host waits for it waits for in the program. Operations on the CPU
are a queue of their own, `cpu`, for which the host waits before it goes on elsewhere.

Only `Event.record`, `Event.wait`, `Event.synchronize`, `Stream.synchronize` and `synchronize` of
torch.cuda are followed: the other documented calls, as `Stream.wait_stream`, come down to them.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple
from weakref import WeakKeyDictionary

import torch

from interlock.torch.names import tensors_of
from interlock.torch.operations import base_name, kHostScalars

kDeviceType = "cuda"
kHostType = "cpu"
kHostQueue = "cpu"
# The host waits for the results of these.
_kHostResults = kHostScalars | {"nonzero"}


class Streams:
    """Names queues, and tells `add` the statements that order them. `cuda` is torch.cuda."""

    def __init__(self, add: Callable[[str], None], cuda: Any = torch.cuda):
        self._add = add
        self._cuda = cuda
        self._names: Dict[Tuple[Any, int], str] = {}
        self._events: "WeakKeyDictionary[Any, List]" = WeakKeyDictionary()
        self._event_count = 0
        self._replaced: List[Tuple[Any, str, Any]] = []
        self._cpu_is_pending = False
        self.declarations: Dict[str, str] = {}  # The kind of each queue, by its name.

    # --- Which queue ------------------------------------------------------------------------------

    def queue_of(self, *values: Any) -> str:
        """Returns the name of the queue that an operation on the tensors of `values` runs on now."""
        devices = (tensor.device for tensor in tensors_of(values))
        device = next((device for device in devices if device.type == kDeviceType), None)
        if device is None:
            self.declarations.setdefault(kHostQueue, "serial")
            self._cpu_is_pending = True
            return kHostQueue
        name = self.name_of(self._cuda.current_stream(device))
        if self._cpu_is_pending:
            self._add(f"host idle on {kHostQueue}")
            self._cpu_is_pending = False
        return name

    def name_of(self, stream: Any) -> str:
        """Returns the queue of a stream; one that was not seen before is declared."""
        key = (stream.device, stream.cuda_stream)
        if key not in self._names:
            index = stream.device.index or 0
            is_default = stream.cuda_stream == 0
            count = sum(other.startswith(f"cuda{index}.") for other in self._names.values())
            name = f"cuda{index}.default" if is_default else f"cuda{index}.stream{count}"
            self._names[key] = name
            # Streams that PyTorch makes do not block the default stream (cudaStreamNonBlocking).
            self.declarations[name] = "legacy-default" if is_default else "serial"
        return self._names[key]

    def after_operation(
        self, operation: Any, args: Any, kwargs: dict, results: Any, queue: str
    ) -> None:
        """Notes that the host has waited, where the operation's result is for the host."""
        if queue == kHostQueue:
            return
        base = base_name(operation)
        to_host = any(tensor.device.type == kHostType for tensor in tensors_of(results))
        is_async = base in ("copy_", "_to_copy") and _is_non_blocking(operation, args, kwargs)
        if (base in _kHostResults or to_host) and not is_async:
            self._add(f"host idle on {queue}")

    # --- Events -----------------------------------------------------------------------------------

    def install(self) -> None:
        """Follows torch.cuda until remove(). Where there is no CUDA it changes nothing."""
        if not self._cuda.is_available():
            return
        event, stream = self._cuda.Event, self._cuda.Stream
        self._replace(event, "record", self._record)
        self._replace(event, "wait", self._wait)
        self._replace(event, "synchronize", self._event_synchronize)
        self._replace(stream, "synchronize", lambda s: self._add(f"host idle on {self.name_of(s)}"))
        self._replace(self._cuda, "synchronize", lambda *_: self._add("host idle"))

    def remove(self) -> None:
        for owner, name, original in reversed(self._replaced):
            setattr(owner, name, original)
        self._replaced.clear()

    def _replace(self, owner: Any, name: str, note: Callable) -> None:
        original = getattr(owner, name)

        def call(*args, **kwargs):
            result = original(*args, **kwargs)
            note(*args, *kwargs.values())
            return result

        self._replaced.append((owner, name, original))
        setattr(owner, name, call)

    def _current(self, stream: Optional[Any]) -> str:
        return self.name_of(self._cuda.current_stream() if stream is None else stream)

    def _record(self, event: Any, stream: Optional[Any] = None) -> None:
        if event not in self._events:
            self._event_count += 1
            self._events[event] = [f"event{self._event_count}", 0]
        entry = self._events[event]
        entry[1] += 1
        self._add(f"signal {entry[0]}={entry[1]} on {self._current(stream)}")

    # To wait for an event that nobody recorded is to wait for nothing.
    def _wait(self, event: Any, stream: Optional[Any] = None) -> None:
        if event in self._events:
            name, value = self._events[event]
            self._add(f"wait {name}={value} on {self._current(stream)}")

    def _event_synchronize(self, event: Any) -> None:
        if event in self._events:
            name, value = self._events[event]
            self._add(f"host waits {name}={value}")


def _is_non_blocking(operation: Any, values: Any, kwargs: dict) -> bool:
    if "non_blocking" in kwargs:
        return bool(kwargs["non_blocking"])
    names = [argument.name for argument in operation._schema.arguments]
    position = names.index("non_blocking") if "non_blocking" in names else len(values)
    return position < len(values) and bool(values[position])
