"""What can go wrong, as exceptions."""

import ctypes
from typing import Optional

from interlock.library import decoded, library

STATUS_BAD_INPUT, STATUS_BAD_ARGUMENT, STATUS_NOTHING, STATUS_STOPPED, STATUS_NO_MEMORY = range(1, 6)


class Error(Exception):
    """Something failed; its text is complete sentences."""


class BadInput(Error):
    """A program or a file is not what it is to be. `line` and `column`, from 1, are None where there
    is no place."""

    def __init__(self, message: str, line: Optional[int], column: Optional[int]):
        super().__init__(message)
        self.line = line
        self.column = column


class NothingToDo(Error):
    """There is nothing to do it to: a program without a finding, to minimize."""


class Stopped(Error):
    """The time that was given is over."""


def raise_error(status: int, error: ctypes.c_void_p) -> None:
    """Raises what `error` says, and frees it."""
    functions = library()
    message = decoded(functions.ilk_error_message(error))
    line = functions.ilk_error_line(error) or None
    column = functions.ilk_error_column(error) or None
    functions.ilk_error_free(error)
    if status == STATUS_BAD_INPUT:
        raise BadInput(message, line, column)
    if status == STATUS_BAD_ARGUMENT:
        raise ValueError(message)
    if status == STATUS_NOTHING:
        raise NothingToDo(message)
    if status == STATUS_STOPPED:
        raise Stopped(message)
    if status == STATUS_NO_MEMORY:
        raise MemoryError(message)
    raise Error(message)
