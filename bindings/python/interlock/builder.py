"""Programs that are built, statement by statement."""

import ctypes
from typing import Any, Iterable, Optional, Tuple, Union

from interlock.calls import call
from interlock.errors import raise_error
from interlock.library import decoded, encoded, library
from interlock.programs import Program

# A whole memory or tensor, or bytes of it: (name, begin, end).
Operand = Union[str, Tuple[str, int, int]]

_WHOLE = (1 << 64) - 1
_MODES = {"reads": 0, "writes": 1, "updates": 2, "atomics": 3}


def _checked_size(number: int) -> int:
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{number} is no number of bytes.")
    return number


class Builder:
    """Statements in the order of the calls; each method returns the builder.

        program = (interlock.Builder()
                   .memory("a", 4096)
                   .dispatch("Produce", writes=["a"])
                   .barrier()
                   .dispatch("Consume", reads=[("a", 0, 64)])
                   .build())
    """

    def __init__(self) -> None:
        self._handle = library().ilk_builder_create()
        if not self._handle:
            raise MemoryError("there is not enough memory.")

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library().ilk_builder_free(self._handle)

    def __reduce__(self) -> Any:
        raise TypeError("a Builder has no copies; what build() returns has.")

    def _add(self, function: Any, *arguments: Any) -> "Builder":
        error = ctypes.c_void_p()
        status = function(self._handle, *arguments, ctypes.byref(error))
        if status != 0:
            raise_error(status, error)
        return self

    def memory(self, name: str, size: int) -> "Builder":
        """A device allocation of `size` bytes."""
        return self._add(library().ilk_builder_memory, encoded(name), _checked_size(size))

    def dispatch(self, kernel: str, *, label: Optional[str] = None, reads: Iterable[Operand] = (),
                 writes: Iterable[Operand] = (), updates: Iterable[Operand] = (),
                 atomics: Iterable[Operand] = (), atomic: Optional[str] = None) -> "Builder":
        """A dispatch. A kernel with an upper-case initial is opaque: its accesses are all that is
        known of it. `atomic` is the operation of its atomics: "add", "min", …"""
        self._add(library().ilk_builder_dispatch, None if label is None else encoded(label),
                  encoded(kernel))
        for mode, operands in zip(_MODES.values(), (reads, writes, updates, atomics)):
            for operand in operands:
                name, begin, end = (operand, 0, _WHOLE) if isinstance(operand, str) else operand
                self._add(library().ilk_builder_access, mode, encoded(name), _checked_size(begin),
                          _checked_size(end))
        if atomic is not None:
            self._add(library().ilk_builder_attribute, b"atomic", encoded(atomic))
        return self

    def barrier(self, *, execution: bool = False) -> "Builder":
        """A barrier between what stands before it and after it. With `execution` it orders, and
        makes nothing visible: enough for a write after a read."""
        return self._add(library().ilk_builder_barrier, int(execution))

    def line(self, text: str) -> "Builder":
        """Any other statement of the text format; what is wrong with it, build() says."""
        return self._add(library().ilk_builder_line, encoded(text))

    @property
    def text(self) -> str:
        """What was built so far."""
        return decoded(library().ilk_builder_text(self._handle))

    def build(self, **options: Any) -> Program:
        """The program. Raises BadInput; its line is one of `text`."""
        return Program(call(library().ilk_builder_finish, self._handle, **options))
