"""Calls that take long: they end soon after ^C, and when their time is over."""

import ctypes
import threading
from typing import Any, Callable, Dict, Optional

from interlock.errors import raise_error
from interlock.library import library

# By name, as functions of this package have them: the number in `enum ilk_option`.
OPTIONS: Dict[str, int] = {
    "input_bytes": 0,
    "statement_count": 1,
    "expansion_count": 2,
    "all_pairs": 16,
    "possible": 17,
    "own_reads": 18,
    "ignore_expect": 19,
    "hazard_count": 20,
    "observability_budget": 21,
    "redundancy_budget": 22,
    "evaluation_count": 32,
    "any_kernels": 33,
    "queue_count": 48,
    "run_count": 64,
    "seed": 65,
}


class _Options:
    """A handle of options that is freed with it."""

    def __init__(self, values: Dict[str, Any]):
        self.handle = library().ilk_options_create()
        if not self.handle:
            raise MemoryError("there is not enough memory.")
        for name, value in values.items():
            if name not in OPTIONS:
                raise TypeError(f"there is no option '{name}': {', '.join(OPTIONS)}")
            number = int(value)
            if not 0 <= number < 1 << 64 or library().ilk_options_set(self.handle, OPTIONS[name], number):
                raise ValueError(f"{name}={value} is out of range.")

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            library().ilk_options_free(self.handle)

    def stop(self) -> None:
        library().ilk_options_stop(self.handle)


def _run_aside(work: Callable[[], int], stop: Callable[[], None]) -> int:
    """Runs `work` on a thread of its own: this one is then free to take ^C, and asks for the end."""
    results = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # Goes on in the thread that waits.
            results.append(error)

    thread = threading.Thread(target=run, name="interlock", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        stop()
        thread.join()
        raise
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def call(function: Callable[..., int], *arguments: Any, seconds: Optional[float] = None,
         **options: Any) -> Optional[int]:
    """Calls `function(*arguments, options, place of the result, place of the error)`. Returns the
    handle that it makes, None for a null one; raises its error."""
    if seconds is not None and not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise ValueError(f"seconds={seconds} is out of range.")
    given = _Options(options)
    result, error = ctypes.c_void_p(), ctypes.c_void_p()

    def work() -> int:
        return function(*arguments, given.handle, ctypes.byref(result), ctypes.byref(error))

    timer = threading.Timer(seconds, given.stop) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        is_main = threading.current_thread() is threading.main_thread()
        status = _run_aside(work, given.stop) if is_main else work()
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()  # It holds the options.
    if status != 0:
        raise_error(status, error)
    return result.value
