"""Passes: kernels over buffers on the GPU, and copies between them, recorded together and submitted at once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import wgpu

from helpers.gpu.adapter import MAX_WORKGROUPS, NATIVE, GpuError, adapter_info, device, reason
from helpers.gpu.buffers import Slice, empty, part_of, read
from helpers.gpu.compiled import bind_group, pipeline
from wgsl import Kernel

SMALL_BUFFER = r"In bind group .* binding index (\d+) is bound with size (\d+) where the shader expects (\d+)"
ADVICE = "choose another kernel, a smaller problem or another adapter"


@dataclass(frozen=True)
class Pass:
    """One dispatch: a kernel over its buffers (in binding order), and the workgroups in x, y and z.

    `iterations` is an upper bound on the loop iterations of one thread, for the drivers that stop a thread after too
    many. `label` is what a GPU debugger calls this dispatch; one without a label shares a compute pass with its
    neighbors. Where it is not `checked`, the kernel runs without bounds checks: for measurements of kernels that are
    known to stay within their arrays.
    """

    kernel: Kernel
    buffers: tuple[wgpu.GPUBuffer | Slice, ...]
    workgroups: tuple[int, int, int]
    iterations: int = 0
    entry_point: str = "main"
    label: str = ""
    checked: bool = True

    def problem(self) -> str | None:
        """The reason why this pass cannot run on the adapter in use, or None."""
        if max(self.workgroups) > MAX_WORKGROUPS:
            rule = f"each number may be at most {MAX_WORKGROUPS:,}"
            return f"{self._name}: {self.workgroups} workgroups: {rule}: {ADVICE}"
        if self.iterations > CAP and loop_cap():
            return (
                f"{self._name}: a thread may loop {self.iterations:,} times, and this adapter's driver "
                f"({adapter_info().name}, {adapter_info().driver}) stops it after {loop_cap():,}: {ADVICE}"
            )
        return None

    @property
    def _name(self) -> str:
        return f"{self.kernel.name} {self.label}".strip()

    @cached_property
    def compiled(self) -> tuple[wgpu.GPUComputePipeline, wgpu.GPUBindGroup]:
        """Pipeline and bind group, made at the first use.

        Raises GpuError or WgslError where this pass cannot run.
        """
        problem = self.problem()
        if problem:
            raise GpuError(problem)
        return pipeline(self.kernel, self.entry_point, self.checked), bind_group(self.kernel, self.buffers)


@dataclass(frozen=True)
class Copy:
    """One copy on the GPU, between two passes, from a buffer or a slice into another one of the same size."""

    source: wgpu.GPUBuffer | Slice
    target: wgpu.GPUBuffer | Slice

    def record(self, encoder: wgpu.GPUCommandEncoder) -> None:
        """Add it to an encoder."""
        source = part_of(self.source)
        target = part_of(self.target)
        encoder.copy_buffer_to_buffer(source.buffer, source.offset, target.buffer, target.offset, source.size)


def run(*passes: Pass | Copy) -> None:
    """Record the passes in one encoder and submit it once; a later pass sees what an earlier one wrote.

    Raises
    ------
    GpuError
        A pass asks for more than this adapter can do, or for buffers that do not fit; nothing was launched.
    WgslError
        A kernel does not compile.
    """
    for command in passes:
        if isinstance(command, Pass):
            _ = command.compiled  # refuses, before anything is encoded
    submit(passes)


def submit(passes: Sequence[Pass | Copy], clock: wgpu.GPUQuerySet | None = None) -> None:
    """Encode and submit; with a `clock`, write its ticks 0 and 1 at the first begin and the last end."""
    gpu = device()
    encoder = gpu.create_command_encoder()
    batches = _batches(passes)
    last = len(batches) - 1
    for i, batch in enumerate(batches):
        if isinstance(batch[0], Copy):
            batch[0].record(encoder)
            continue
        ticks = _ticks(clock, i == 0, i == last) if clock else None
        record(encoder.begin_compute_pass(label=batch[0].label, timestamp_writes=ticks), batch)
    try:
        gpu.queue.submit([encoder.finish()])
    except wgpu.GPUError as error:
        why = re.sub(SMALL_BUFFER, r"the buffer at binding \1 has \2 bytes, and the kernel needs \3", reason(error))
        kernels = ", ".join(command.kernel.name for command in passes if isinstance(command, Pass))
        raise GpuError(f"{kernels}: {why}") from error


def _ticks(clock: wgpu.GPUQuerySet, first: bool, last: bool) -> dict[str, object] | None:
    """The ticks that a compute pass writes: 0 at the begin of the first one, 1 at the end of the last one."""
    if not first and not last:
        return None
    ticks: dict[str, object] = {"query_set": clock}
    if first:
        ticks["beginning_of_pass_write_index"] = 0
    if last:
        ticks["end_of_pass_write_index"] = 1
    return ticks


def submit_apart(groups: Sequence[Sequence[Pass]], clock: wgpu.GPUQuerySet) -> None:
    """Encode each group as a compute pass of its own, whose begin and end write two ticks, and submit all at once."""
    encoder = device().create_command_encoder()
    for i, group in enumerate(groups):
        marks = {"beginning_of_pass_write_index": 2 * i, "end_of_pass_write_index": 2 * i + 1}
        record(encoder.begin_compute_pass(timestamp_writes={"query_set": clock, **marks}), group)
    device().queue.submit([encoder.finish()])


def _batches(passes: Sequence[Pass | Copy]) -> list[list[Pass | Copy]]:
    """The groups that share a compute pass: neighbors without a label. One with a label is alone, and so is a copy."""
    batches = []
    open_to_next = False
    for command in passes:
        alone = isinstance(command, Copy) or command.label != ""
        if open_to_next and not alone:
            batches[-1].append(command)
        else:
            batches.append([command])
        open_to_next = not alone
    return batches


def record(compute: wgpu.GPUComputePassEncoder, batch: Sequence[Pass]) -> None:
    """Record dispatches, and set only what differs from the one before.

    wgpu 0.32 looks for an error after each of its calls, which takes as long as the call: here, it looks after all.
    """
    dispatches = [(*dispatch.compiled, dispatch.workgroups) for dispatch in batch]
    if NATIVE:
        from wgpu.backends.wgpu_native._api import libf

        libf._make_proxy_func("record", _record)(compute._internal, dispatches)
    else:
        _record_plainly(compute, dispatches)
    compute.end()


def _record(encoder: object, dispatches: Sequence[tuple]) -> None:
    from wgpu.backends.wgpu_native._api import ffi, lib

    last_compiled = None
    last_group = None
    for compiled, group, workgroups in dispatches:
        if compiled is not last_compiled:
            lib.wgpuComputePassEncoderSetPipeline(encoder, compiled._internal)
            last_compiled = compiled
        if group is not last_group:
            lib.wgpuComputePassEncoderSetBindGroup(encoder, 0, group._internal, 0, ffi.NULL)
            last_group = group
        lib.wgpuComputePassEncoderDispatchWorkgroups(encoder, *workgroups)


def _record_plainly(compute: wgpu.GPUComputePassEncoder, dispatches: Sequence[tuple]) -> None:
    for compiled, group, workgroups in dispatches:
        compute.set_pipeline(compiled)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*workgroups)


# --- A fault of old drivers -----------------------------------------------------------------------------

CAP = 65_535  # iterations; a launch with fewer runs everywhere


def counting_pass() -> Pass:
    """One thread that counts to 300,000 and writes how far it came."""
    source = Path(__file__).with_name("loop_cap.wgsl").read_text(encoding="utf-8")
    return Pass(Kernel(source, "loop_cap"), (empty(4, "counted"),), (1, 1, 1))


@cache
def loop_cap() -> int | None:
    """The loop iterations that one thread may run in all before the driver stops it silently, or None.

    Mesa before 23 stops a software shader after 65,535 iterations and returns what it has: a wrong sum and no
    error. So a kernel counts to 300,000 once, and the driver is judged by what it does, not by its version.
    """
    counting = counting_pass()
    try:
        run(counting)
    except GpuError:  # the simulator does say so
        return CAP
    counted = read(counting.buffers[0], (1,), np.uint32)[0]
    return None if counted == 300_000 else CAP
