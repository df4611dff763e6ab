"""Stand-ins for torch.cuda, its streams and its events: as much as the recorder's interface to them."""

from typing import NamedTuple

from interlock.torch.streams import Streams


class FakeDevice(NamedTuple):
    type: str = "cuda"
    index: int = 0


class FakeStream:
    def __init__(self, number):
        self.device, self.cuda_stream = FakeDevice(), number

    def synchronize(self):
        pass

    # As torch.cuda.Stream has it.
    def wait_stream(self, cuda, other):
        event = cuda.Event()
        event.record(other)
        event.wait(self)


class FakeEvent:
    def record(self, stream=None):
        pass

    def wait(self, stream=None):
        pass

    def synchronize(self):
        pass


class FakeCuda:
    def __init__(self):
        self.Event = type("Event", (FakeEvent,), dict(FakeEvent.__dict__))
        self.Stream = type("Stream", (FakeStream,), dict(FakeStream.__dict__))
        self.default = self.Stream(0)
        self.current = self.default
        self.lines = []
        self.streams = Streams(self.lines.append, self)

    def is_available(self):
        return True

    def current_stream(self, device=None):
        return self.current

    def synchronize(self, device=None):
        pass

    def two_streams(self, waits):
        """Returns a program: a side stream works on what the default stream made."""
        self.streams.install()
        side = self.Stream(7)
        name, other = self.streams.name_of(self.default), self.streams.name_of(side)
        self.lines.append(f"make: dispatch Make writes x on {name}")
        if waits:
            side.wait_stream(self, self.default)
        self.lines.append(f"use: dispatch Use reads x writes y on {other}")
        self.streams.remove()
        queues = [f"{q}: queue {kind}" for q, kind in self.streams.declarations.items()]
        head = ["interlock 1", "tensor x f32[4]", "tensor y f32[4]", *queues]
        return "\n".join(head + self.lines) + "\n"

    def host_waits(self):
        """Returns what waits of the host, and events that are recorded again, become."""
        self.streams.install()
        event, side = self.Event(), self.Stream(7)
        event.wait(side)  # Nobody has recorded it.
        self.current = side
        self.streams.name_of(self.default)
        event.record()
        event.synchronize()
        side.synchronize()
        self.synchronize()
        self.current = self.default
        event.record()
        event.wait(side)
        self.streams.remove()
        event.record()  # Nobody listens any more.
        return self.lines
