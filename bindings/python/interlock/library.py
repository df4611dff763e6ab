"""libinterlock.so and the functions of it: bindings/c/interlock.h says what each does."""

import ctypes
import functools
import os
import sysconfig
from pathlib import Path
from typing import Iterator, Optional

ABI_VERSION = 0

_text, _handle, _number = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint64
_status, _size, _place = ctypes.c_int, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)

# Of each function what it returns, and what it takes.
_FUNCTIONS = {
    "ilk_version": (_text, []),
    "ilk_abi_version": (ctypes.c_uint32, []),
    "ilk_error_free": (None, [_handle]),
    "ilk_error_message": (_text, [_handle]),
    "ilk_error_line": (_number, [_handle]),
    "ilk_error_column": (_number, [_handle]),
    "ilk_options_create": (_handle, []),
    "ilk_options_free": (None, [_handle]),
    "ilk_options_set": (_status, [_handle, ctypes.c_int, _number]),
    "ilk_options_stop": (None, [_handle]),
    "ilk_program_parse": (_status, [_text, _size, _text, _handle, _place, _place]),
    "ilk_program_read": (_status, [_text, _handle, _place, _place]),
    "ilk_program_free": (None, [_handle]),
    "ilk_program_source": (_text, [_handle]),
    "ilk_program_text": (_text, [_handle]),
    "ilk_program_name": (_text, [_handle]),
    "ilk_program_dispatch_count": (_number, [_handle]),
    "ilk_builder_create": (_handle, []),
    "ilk_builder_free": (None, [_handle]),
    "ilk_builder_memory": (_status, [_handle, _text, _number, _place]),
    "ilk_builder_dispatch": (_status, [_handle, _text, _text, _place]),
    "ilk_builder_access": (_status, [_handle, ctypes.c_int, _text, _number, _number, _place]),
    "ilk_builder_attribute": (_status, [_handle, _text, _text, _place]),
    "ilk_builder_barrier": (_status, [_handle, ctypes.c_int, _place]),
    "ilk_builder_line": (_status, [_handle, _text, _place]),
    "ilk_builder_finish": (_status, [_handle, _handle, _place, _place]),
    "ilk_builder_text": (_text, [_handle]),
    "ilk_check": (_status, [_handle, _handle, _place, _place]),
    "ilk_report_free": (None, [_handle]),
    "ilk_report_verdict": (ctypes.c_int, [_handle]),
    "ilk_report_number": (_number, [_handle, ctypes.c_int]),
    "ilk_report_summary": (_text, [_handle]),
    "ilk_report_text": (_text, [_handle]),
    "ilk_report_json": (_text, [_handle]),
    "ilk_report_finding_count": (_size, [_handle]),
    "ilk_report_finding": (_handle, [_handle, _size]),
    "ilk_finding_word": (_text, [_handle]),
    "ilk_finding_observability": (ctypes.c_int, [_handle]),
    "ilk_finding_memory": (_text, [_handle]),
    "ilk_finding_begin": (_number, [_handle]),
    "ilk_finding_end": (_number, [_handle]),
    "ilk_finding_first": (_handle, [_handle]),
    "ilk_finding_second": (_handle, [_handle]),
    "ilk_finding_headline": (_text, [_handle]),
    "ilk_finding_fix": (_text, [_handle]),
    "ilk_finding_text": (_text, [_handle]),
    "ilk_finding_detail_count": (_size, [_handle]),
    "ilk_finding_detail": (_text, [_handle, _size]),
    "ilk_finding_witness_count": (_size, [_handle]),
    "ilk_finding_witness": (_text, [_handle, _size]),
    "ilk_finding_expectation": (_text, [_handle]),
    "ilk_access_dispatch": (_number, [_handle]),
    "ilk_access_label": (_text, [_handle]),
    "ilk_access_kernel": (_text, [_handle]),
    "ilk_access_verb": (_text, [_handle]),
    "ilk_access_begin": (_number, [_handle]),
    "ilk_access_end": (_number, [_handle]),
    "ilk_access_tensor": (_text, [_handle]),
    "ilk_access_line": (_number, [_handle]),
    "ilk_encode": (_status, [_handle, _text, _handle, _place, _place]),
    "ilk_plan": (_status, [_handle, _text, _handle, _place, _place]),
    "ilk_fix": (_status, [_handle, _handle, _place, _place]),
    "ilk_minimize": (_status, [_handle, _handle, _place, _place]),
    "ilk_find": (_status, [_text, _handle, _place, _place]),
}


def decoded(text: Optional[bytes]) -> Optional[str]:
    """Names and comments are the bytes of the input, which need not be UTF-8."""
    return None if text is None else text.decode("utf-8", "surrogateescape")


def encoded(text: str) -> bytes:
    """The other way round. What is found here that C cannot be told is an error."""
    if "\0" in text:
        raise ValueError("the text has a zero byte in it.")
    return text.encode("utf-8", "surrogateescape")


def _places(name: str) -> Iterator[str]:
    """Where the library may be: installed beside this package, built in this tree, anywhere."""
    package = Path(__file__).resolve().parent
    if package.parent.name == "dist-packages":  # lib/python3/dist-packages/interlock
        lib = package.parents[2]
        for folder in (lib / (sysconfig.get_config_var("MULTIARCH") or ""), lib, lib.parent / "lib64"):
            yield str(folder / name)
    elif package.parents[1].name == "bindings":  # bindings/python/interlock
        yield str(package.parents[2] / "build" / "release" / "bindings" / name)


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded once: $INTERLOCK_LIBRARY, or where it is installed or built."""
    name = f"libinterlock.so.{ABI_VERSION}"
    path = os.environ.get("INTERLOCK_LIBRARY")
    if not path:
        path = next((place for place in _places(name) if os.path.exists(place)), name)
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{name} cannot be loaded: {error}. Install Interlock, build it (./dev build), or let "
            "INTERLOCK_LIBRARY name the file."
        ) from error
    for name, (returned, taken) in _FUNCTIONS.items():
        function = getattr(loaded, name, None)
        if function is None:
            raise ImportError(f"{path} has no function {name}(): it is of another version.")
        function.restype, function.argtypes = returned, taken
    if loaded.ilk_abi_version() != ABI_VERSION:
        raise ImportError(f"{path} has ABI {loaded.ilk_abi_version()}; this package is for {ABI_VERSION}.")
    return loaded
