"""Programs."""

import os
from typing import Any, Dict, Tuple, Union

from interlock.calls import call
from interlock.library import decoded, encoded, library


class Program:
    """A program, which does not change. `parse`, `read` and `Builder.build` make one."""

    def __init__(self, handle: int):
        self._handle = handle

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library().ilk_program_free(self._handle)

    # It does not change, so a copy is itself; the handle is of one object in one process.
    def __copy__(self) -> "Program":
        return self

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Program":
        return self

    def __reduce__(self) -> Tuple[Any, ...]:
        return parse, (self.source, self.name)

    @property
    def handle(self) -> int:
        """For functions of the library."""
        return self._handle

    @property
    def source(self) -> str:
        """What it was read from, comments and all."""
        return decoded(library().ilk_program_source(self._handle))

    @property
    def text(self) -> str:
        """The canonical text, which reads as the same program."""
        text = decoded(library().ilk_program_text(self._handle))
        if text is None:
            raise MemoryError("there is not enough memory.")
        return text

    @property
    def name(self) -> str:
        """As messages name it."""
        return decoded(library().ilk_program_name(self._handle))

    def __len__(self) -> int:
        """How many dispatches it has."""
        return library().ilk_program_dispatch_count(self._handle)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<interlock.Program {self.name!r}, {len(self)} dispatches>"

    def write(self, path: Union[str, os.PathLike]) -> None:
        """Writes the source to a file, for `interlock replay` and the other commands."""
        with open(path, "wb") as file:
            file.write(encoded(self.source))


def parse(text: str, name: str = "<text>", **options: Any) -> Program:
    """Reads a program of text. Raises BadInput with the place."""
    data = text.encode("utf-8", "surrogateescape")
    return Program(call(library().ilk_program_parse, data, len(data), encoded(name), **options))


def read(path: Union[str, os.PathLike], **options: Any) -> Program:
    """Reads a file. Raises BadInput, also where it cannot be read."""
    return Program(call(library().ilk_program_read, os.fsencode(path), **options))


def program_of(program: Union[Program, str]) -> Program:
    """A program as it is, or what the text says."""
    if isinstance(program, str):
        return parse(program)
    if not isinstance(program, Program):
        raise TypeError(f"{program!r} is neither a Program nor the text of one")
    return program
