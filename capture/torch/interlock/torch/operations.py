"""What an operation reads and writes: its schema says which arguments it mutates, and this file what
schemas leave out.

The rules, each of which the replay of recorded programs (tests/capture/torch/) holds against what
the operation does:

- A tensor argument is read, unless only its shape matters (`zeros_like`) or a factor of zero takes
  it out (`beta=0`).
- An argument that the schema marks as mutated is read and written; written alone if it is an `out=`
  or the operation replaces all elements (`copy_`). Operations tagged `inplace_view` and `set_` change
  the tensor and none of its bytes.
- A result on a storage that no argument has is written. One on the storage of an argument is a view
  of it, whatever the schema says: `_unsafe_view`, or `contiguous` where nothing is to be copied.
- Some operations mutate arguments that the schema does not mark: `kUnmarkedMutations`.
"""

from typing import Any, Iterator, List, NamedTuple, Optional, Tuple

import torch


class Mutation(NamedTuple):
    """What a kernel does to a tensor that its schema takes as a plain input."""

    argument: str
    is_read_in_training: bool
    is_read_otherwise: bool


# In training these are mutated, otherwise not.
_kRunningStatistics = (Mutation("running_mean", True, True), Mutation("running_var", True, True))
kUnmarkedMutations = {
    "aten::native_batch_norm": _kRunningStatistics,
    "aten::cudnn_batch_norm": _kRunningStatistics,
    "aten::miopen_batch_norm": _kRunningStatistics,
    "aten::rrelu_with_noise": (Mutation("noise", False, False),),
}

# In place, and nothing of the old elements matters.
kReplacesElements = frozenset(
    "aten::" + name
    for name in (
        "copy_ fill_ zero_ uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ "
        "log_normal_"
    ).split()
)

# Changes what the tensor is, and no byte.
kChangesNoBytes = frozenset(
    "aten::" + name for name in "set_ resize_ resize_as_ detach_ record_stream".split()
)

# The results have no values yet.
kAllocatesOnly = frozenset(
    "aten::" + name
    for name in "empty empty_like empty_strided empty_permuted new_empty new_empty_strided".split()
)

# self counts beta times; where beta is 0, "input will be ignored" (documentation of torch.addmm).
kScaledBySelf = frozenset(
    "aten::" + name
    for name in (
        "addmm addmm_ baddbmm baddbmm_ addbmm addbmm_ addmv addmv_ addr addr_ _addmm_activation"
    ).split()
)


# The results are no tensors: the host waits for them.
kHostScalars = frozenset(("_local_scalar_dense", "equal", "is_nonzero"))


class TensorUse(NamedTuple):
    tensor: torch.Tensor
    is_read: bool
    is_written: bool


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Yields the tensors of an argument or result: itself, or those of a list."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            if isinstance(element, torch.Tensor):
                yield element


# Marks for profilers, which take no part in the computation.
kNoOperation = frozenset(("profiler",))


def is_operation(operation: Any) -> bool:
    """Returns whether `operation` computes: marks for profilers do not."""
    if not hasattr(operation, "_schema"):
        return True
    return schema_name(operation).split("::")[0] not in kNoOperation


def schema_name(operation: Any) -> str:
    return operation._schema.name


def _bound_arguments(operation: Any, args: Tuple, kwargs: dict) -> List[Tuple[Any, Any]]:
    arguments = operation._schema.arguments
    bound = list(zip(arguments, args))
    by_name = {argument.name: argument for argument in arguments}
    bound += [(by_name[name], value) for name, value in kwargs.items() if name in by_name]
    return bound


def _takes_only_shape(name: str) -> bool:
    base = name.split("::")[-1]
    return base.endswith("_like") or base.startswith("new_")


def _ignores_self(name: str, values: dict) -> bool:
    return name in kScaledBySelf and values.get("beta", 1) == 0


def _unmarked_mutation(name: str, argument: str) -> Optional[Mutation]:
    return next((m for m in kUnmarkedMutations.get(name, ()) if m.argument == argument), None)


def uses_of_arguments(operation: Any, args: Tuple, kwargs: dict) -> List[TensorUse]:
    """Returns how `operation` uses each tensor among its arguments, in the order of the schema."""
    name = schema_name(operation)
    bound = _bound_arguments(operation, args, kwargs)
    values = {argument.name: value for argument, value in bound}
    changes_no_bytes = name in kChangesNoBytes or torch.Tag.inplace_view in operation.tags
    uses = []
    for argument, value in bound:
        is_marked = argument.alias_info is not None and argument.alias_info.is_write
        is_replaced = is_marked and (argument.is_out or name in kReplacesElements)
        is_read = not is_replaced and not (argument.name == "self" and _ignores_self(name, values))
        is_written = is_marked
        mutation = _unmarked_mutation(name, argument.name)
        if mutation is not None:
            is_written = bool(values.get("training", False))
            is_read = mutation.is_read_in_training if is_written else mutation.is_read_otherwise
        if changes_no_bytes or _takes_only_shape(name):
            is_read = is_written = False
        uses += [TensorUse(tensor, is_read, is_written) for tensor in tensors_in(value)]
    return uses


def results_are_written(operation: Any) -> bool:
    """Returns whether results on storages of their own have values."""
    return schema_name(operation) not in kAllocatesOnly


def kernel_name(operation: Any) -> str:
    """Returns the name as kernels of programs are written: `Aten.mm`, `Aten.add.Tensor`."""
    namespace, base = schema_name(operation).split("::")
    overload = operation._schema.overload_name
    name = f"{namespace[:1].upper()}{namespace[1:]}.{base}"
    return f"{name}.{overload}" if overload else name


def base_name(operation: Any) -> str:
    return schema_name(operation).split("::")[-1]
