"""Records what a PyTorch program does to memory, as a program that `interlock check` reads.

    python3 -m interlock.torch [-o FILE] SCRIPT ARGS...

or, for a part of a script,

    import interlock.torch
    with interlock.torch.record("step.ilk"):
        loss = model(batch).sum()
        loss.backward()

docs/torch.md says what is recorded and what is not.
"""

from interlock.torch.recorder import Recorder, record

__all__ = ["Recorder", "record"]
