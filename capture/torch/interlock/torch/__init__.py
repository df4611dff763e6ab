"""Records what a PyTorch program does to memory, as a program that `interlock check` reads.

    python3 -m interlock.torch [-o FILE] SCRIPT ARGS...

or, for a part of a script,

    import interlock.torch
    with interlock.torch.record("step.ilk"):
        loss = model(batch).sum()
        loss.backward()

docs/torch.md says what is recorded and what is not.
"""

from typing import Any

from interlock.torch.program_text import write_program
from interlock.torch.recorder import Recorder

__all__ = ["Recorder", "record"]


class record:
    """Records what runs inside `with record("step.ilk"):`, and writes it there at the end, also where
    it ends with an exception; with `frees=False` without its `free` lines. The other options are
    those of Recorder."""

    def __init__(self, path: str, frees: bool = True, **options: Any):
        self._path = path
        self._frees = frees
        self._recorder = Recorder(**options)

    def __enter__(self) -> Recorder:
        self._recorder.start()
        return self._recorder

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._recorder.stop()
        write_program(self._recorder, self._path, "", error, frees=self._frees)
