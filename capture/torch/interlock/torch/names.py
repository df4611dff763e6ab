"""Names: which module an operation belongs to, forward and backward.

The basic idea is that a module's call says where the forward pass is, and that the nodes of
autograd's graph which the call has left say so again when the backward pass reaches them. Each gets
two hooks, which note its path and compute nothing.
"""

import re
import threading
from typing import Any, Dict, Iterator, List, Optional, Tuple
from weakref import WeakKeyDictionary

import torch

kReserved = frozenset(
    "reads writes updates atomics partial approximate order on indirect uniform actual transitions "
    "discards".split()
)
kNameLengthMax = 96  # Of 255, so that 256 operands fit a line of 64 KiB.
_kVisited = "interlock.path"


def word_of(text: str) -> str:
    """Returns `text` as a name of the format: other characters become `_`."""
    word = re.sub(r"[^A-Za-z0-9_.]", "_", text)[:kNameLengthMax].rstrip(".")
    if not word or word[0].isdigit() or word[0] == ".":
        word = "_" + word
    return word + "_" if word in kReserved else word


class UniqueNames:
    """Names that were not given before: x, x.2, x.3, …"""

    def __init__(self) -> None:
        self._counts: Dict[str, int] = {}
        self._taken: set = set()

    def take(self, wanted: str) -> str:
        word = word_of(wanted)
        count = self._counts.get(word, 0) + 1
        name = word if count == 1 else f"{word}.{count}"
        while name in self._taken:
            count += 1
            name = f"{word}.{count}"
        self._counts[word] = count
        self._taken.add(name)
        return name


def tensors_of(value: Any, depth: int = 4) -> Iterator[torch.Tensor]:
    """Yields the tensors of a value, and of what it holds up to that depth."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth > 0 and isinstance(value, dict):
        for element in value.values():
            yield from tensors_of(element, depth - 1)
    elif depth > 0 and isinstance(value, (list, tuple)):
        for element in value:
            yield from tensors_of(element, depth - 1)


def _nodes_of(value: Any) -> List[Any]:
    return [tensor.grad_fn for tensor in tensors_of(value) if tensor.grad_fn is not None]


class ModulePaths:
    """Follows calls of modules and the nodes of autograd, one stack for each thread."""

    def __init__(self) -> None:
        self._names: "WeakKeyDictionary[torch.nn.Module, str]" = WeakKeyDictionary()
        self._roots = UniqueNames()
        self._local = threading.local()
        self._call: Optional[Any] = None
        self._parameters: List[Tuple[torch.Tensor, str]] = []

    def current(self) -> str:
        """Returns the path of the running node or module; empty outside of both."""
        node = getattr(self._local, "node", "")
        if node:
            return node
        stack = getattr(self._local, "stack", None)
        return stack[-1] if stack else ""

    def take_parameters(self) -> List[Tuple[torch.Tensor, str]]:
        """Returns the parameters and buffers, with names, of modules that were met since last time."""
        parameters, self._parameters = self._parameters, []
        return parameters

    def install(self) -> None:
        """Wraps torch.nn.Module.__call__ until remove()."""
        original = torch.nn.Module.__call__
        self._call = original
        paths = self

        def call(module, *args, **kwargs):
            stack = paths._enter(module)
            inputs = _nodes_of((args, kwargs))
            try:
                result = original(module, *args, **kwargs)
                paths._name_nodes(result, inputs, stack[-1])
                return result
            finally:
                stack.pop()

        torch.nn.Module.__call__ = call

    def remove(self) -> None:
        torch.nn.Module.__call__ = self._call

    def _enter(self, module: torch.nn.Module) -> List[str]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        if module not in self._names:
            parent = self._local.stack[-1] + "." if self._local.stack else ""
            root = self._roots.take(parent + type(module).__name__)
            for name, part in module.named_modules():
                if part not in self._names:
                    self._names[part] = f"{root}.{name}" if name else root
            for source in (module.named_parameters(), module.named_buffers()):
                self._parameters += [(tensor, f"{root}.{name}") for name, tensor in source]
        self._local.stack.append(self._names[module])
        return self._local.stack

    # From the result back to the inputs. Nodes of an inner module already have its path.
    def _name_nodes(self, result: Any, inputs: List[Any], path: str) -> None:
        seen = {id(node): node for node in inputs}  # The nodes, so that no id is used again.
        nodes = _nodes_of(result)
        while nodes:
            node = nodes.pop()
            if id(node) in seen or not hasattr(node, "metadata"):
                continue
            seen[id(node)] = node
            if _kVisited not in node.metadata:
                node.metadata[_kVisited] = path
                self._watch(node, path)
            nodes += [following for following, _ in node.next_functions if following is not None]

    def _watch(self, node: Any, path: str) -> None:
        if not hasattr(node, "register_prehook"):
            return
        name = f"{path}.{node.name()}"

        def enter(_gradients):
            self._local.node = name

        def leave(_inputs, _outputs):
            self._local.node = ""

        node.register_prehook(enter)
        node.register_hook(leave)
