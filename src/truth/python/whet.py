# SPDX-License-Identifier: Apache-2.0
"""What a Solution in Python may import as `whet`: Unsupported, note(), inputs(). Names with an underscore are for the judge's runner.

A Solution is called as FlashInfer-Bench calls it: run(inputs..., outputs...) in the Definition's order, scalars as Python's own; or, without
destination_passing_style, run(inputs...) that returns the outputs. Tensors are torch's on a GPU; on a CPU those of the first of torch and numpy that
`dependencies` names, else memoryviews (of 16-bit floats: their bits). If its module has prepare(inputs..., outputs...), that is called whenever weights or plans are new; what it
returns comes to run() as the keyword `plan`. In it only inputs of role weight and plan are the call's own; all else has the right shape, and contents without meaning.
On a GPU run() is then called once on such stand-ins, so that whatever compiles or chooses does it before a call that is timed.
"""
import ctypes
import functools
import importlib.util
import json
import os
import sys
import traceback


class Unsupported(Exception):
    """Raised by a Solution, in prepare() or run(): this workload is not one that it runs."""


def note(text):
    """States what really runs: a library, its version, the kernels. Part of the Evaluation; each text once."""
    if text not in _notes_said:
        _notes_said.append(text)


def inputs():
    """Names of the Definition's inputs, scalars included, in the order of the arguments."""
    return [name for name, _ in _inputs]


class _Refused(Exception):
    def __init__(self, code, sentence):
        super().__init__(sentence)
        self.code = code


# Numbers of record/verdict.h.
_LOAD_FAILED, _ENTRY_MISSING, _DEFINITION_MISSING, _DEPENDENCY_MISSING, _UNSUPPORTED, _RETURNED_ERROR = 110, 111, 113, 105, 115, 214


class _Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):  # WhetTensor of candidate.h
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("dtype", _Dtype),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class _Scalar(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("reserved", ctypes.c_int32), ("i", ctypes.c_int64), ("f", ctypes.c_double)]


class _Call(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_uint32), ("num_tensors", ctypes.c_int32), ("num_inputs", ctypes.c_int32), ("num_axes", ctypes.c_int32),
                ("num_scalars", ctypes.c_int32), ("num_threads", ctypes.c_int32), ("tensors", ctypes.POINTER(_Tensor)), ("axes", ctypes.POINTER(ctypes.c_int64)),
                ("scalars", ctypes.POINTER(_Scalar)), ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_uint64)]


# DLPack code and bits -> torch's name, numpy's name, memoryview's letter.
_DTYPES = {(0, 8): ("int8", "int8", "b"), (0, 16): ("int16", "int16", "h"), (0, 32): ("int32", "int32", "i"), (0, 64): ("int64", "int64", "q"),
           (1, 8): ("uint8", "uint8", "B"), (2, 16): ("float16", "float16", "H"), (2, 32): ("float32", "float32", "f"), (2, 64): ("float64", "float64", "d"),
           (4, 16): ("bfloat16", "uint16", "H"), (6, 8): ("bool", "bool", "?"), (10, 8): ("float8_e4m3fn", "uint8", "B"), (12, 8): ("float8_e5m2", "uint8", "B")}


class _Spec:
    """Of a tensor of the call, without its memory."""

    def __init__(self, tensor):
        key = (tensor.dtype.code, tensor.dtype.bits)
        if key not in _DTYPES:
            raise Unsupported("tensors of DLPack type %d with %d bits do not reach Python" % key)
        self.torch_name, self.numpy_name, self.letter = _DTYPES[key]
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.itemsize = tensor.dtype.bits // 8
        self.count = 1
        for extent in self.shape:
            self.count *= extent
        self.bytes = self.count * self.itemsize
        self.is_float = tensor.dtype.code in (2, 4, 10, 12)


class _Memory:
    """Lent device memory, for torch.as_tensor. Read-only inputs are not marked so: torch refuses such memory, and the mapping holds anyway. As integers: what
    the interface cannot name (bfloat16, float8) is viewed afterwards."""

    def __init__(self, address, spec):
        self.__cuda_array_interface__ = {"shape": spec.shape, "typestr": {1: "|u1", 2: "<i2", 4: "<i4", 8: "<i8"}[spec.itemsize], "data": (address, False), "version": 2}


class _Torch:
    def __init__(self, device):
        import torch
        self.torch, self.device = torch, device
        self.stream = self.shapes = None
        if device == "cuda":
            torch.cuda.init()
            note("torch %s" % torch.__version__)

    def enter(self, call):
        # Once: a process has one stream, and setting it costs time.
        if self.device == "cuda" and self.stream is None:
            self.stream = self.torch.cuda.ExternalStream(call.stream)
            self.torch.cuda.set_stream(self.stream)

    def begin(self, shapes):
        # What was kept for another workload's sizes would add up over a task's hundreds.
        if self.device == "cuda" and shapes != self.shapes:
            self.torch.cuda.empty_cache()
        self.shapes = shapes

    def lent(self, address, spec, writable):
        dtype = getattr(self.torch, spec.torch_name)
        if spec.count == 0:
            return self.torch.empty(spec.shape, dtype=dtype, device=self.device)
        if self.device == "cuda":
            tensor = self.torch.as_tensor(_Memory(address, spec), device="cuda")
            if tensor.data_ptr() != address:
                raise _Refused(_RETURNED_ERROR, "torch copied a tensor that was to be lent")
            return tensor.view(dtype)
        # A buffer of ctypes is writable as far as Python knows; the mapping is not.
        return self.torch.frombuffer(_buffer(address, spec.bytes), dtype=dtype).reshape(spec.shape)

    def stand_in(self, spec):
        dtype = getattr(self.torch, spec.torch_name)
        if not spec.is_float or self.device != "cuda":
            return self.torch.zeros(spec.shape, dtype=self.torch.uint8 if spec.itemsize == 1 else dtype, device=self.device).view(dtype)
        # As the inputs are: what is measured on zeros, which cost no power, is another choice.
        return self.torch.randn(spec.shape, dtype=self.torch.float32 if spec.itemsize == 1 else dtype, device=self.device).to(dtype)

    def put(self, name, out, value):
        if not isinstance(value, self.torch.Tensor):
            raise TypeError("run() returned %s for %s; expected a torch.Tensor" % (type(value).__name__, name))
        if tuple(value.shape) != tuple(out.shape) or value.dtype != out.dtype:
            raise TypeError("run() returned %s of %s for %s; expected %s of %s" % (tuple(value.shape), value.dtype, name, tuple(out.shape), out.dtype))
        out.copy_(value)


class _Numpy:
    def __init__(self):
        import numpy
        self.numpy = numpy

    def enter(self, call):
        pass

    def begin(self, shapes):
        pass

    def lent(self, address, spec, writable):
        flat = self.numpy.frombuffer(_buffer(address, spec.bytes), dtype=spec.numpy_name) if spec.count else self.numpy.empty(0, dtype=spec.numpy_name)
        flat.flags.writeable = writable
        return flat.reshape(spec.shape)

    def stand_in(self, spec):
        return self.numpy.zeros(spec.shape, dtype=spec.numpy_name)

    def put(self, name, out, value):
        value = self.numpy.asarray(value)
        if value.shape != out.shape:
            raise TypeError("run() returned shape %s for %s; expected %s" % (value.shape, name, out.shape))
        out[...] = value


class _Views:
    def enter(self, call):
        pass

    def begin(self, shapes):
        pass

    def lent(self, address, spec, writable):
        return self.shaped(memoryview(_buffer(address, spec.bytes)).cast("B"), spec, writable)

    def stand_in(self, spec):
        return self.shaped(memoryview(bytearray(spec.bytes)), spec, True)

    def shaped(self, view, spec, writable):
        view = view if writable else view.toreadonly()
        return view.cast(spec.letter, spec.shape) if spec.count else view.cast(spec.letter)

    def put(self, name, out, value):
        flat, source = out.cast("B"), memoryview(value).cast("B")
        if len(flat) != len(source):
            raise TypeError("run() returned %d bytes for %s; expected %d" % (len(source), name, len(flat)))
        flat[:] = source


def _buffer(address, size):
    return (ctypes.c_char * size).from_address(address)


_notes_said = []
_module = _entry = _values = None
_destination_passing = True
_inputs, _outputs = [], []  # of the Definition: (name, is a scalar); names
_returned = None            # [(name, buffer of the call, what run() returned)]
_plan = None
_folder = ""


def _load(folder, device, signature):
    """`folder` holds entry.json and, below source/, the Solution. `signature`: a line "in|out NAME tensor|scalar" per input and output."""
    global _destination_passing, _folder, _entry, _plan, _returned
    lines = [line.split() for line in signature.splitlines()]
    _inputs[:] = [(name, kind == "scalar") for role, name, kind in lines if role == "in"]
    _outputs[:] = [name for role, name, kind in lines if role == "out"]
    _plan = _returned = None
    with open(os.path.join(folder, "entry.json"), encoding="utf-8") as file:
        facts = json.load(file)
    _destination_passing = facts["destination_passing_style"]
    _folder = os.path.join(folder, "source")
    file, _, symbol = facts["entry_point"].partition("::")
    if _module is None:
        _import(file, device, facts["dependencies"])
    _entry = getattr(_module, symbol, None)
    if not callable(_entry):
        raise _Refused(_ENTRY_MISSING, "%s has no function %s" % (file, symbol))


def _import(file, device, dependencies):
    global _module, _values
    if device == "cuda" or "torch" in dependencies:
        _values = _Torch(device)
    else:
        _values = _Numpy() if "numpy" in dependencies else _Views()
    path = os.path.join(_folder, file)
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(file))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Unsupported:
        raise
    except ModuleNotFoundError as error:
        raise _Refused(_DEPENDENCY_MISSING, "importing %s: %s" % (file, _last_line(error))) from error
    except BaseException as error:
        raise _Refused(_LOAD_FAILED, "importing %s: %s" % (file, _last_line(error))) from error
    _module = module


def _arguments(call, of_call):
    """All values in Definition order. `of_call` says of a tensor whether its memory is the call's; else a stand-in."""
    values, tensor, scalar = [], 0, 0
    for _, is_scalar in _inputs + [(name, False) for name in _outputs]:
        if is_scalar:
            one = call.scalars[scalar]
            values.append(one.f if one.kind == 1 else bool(one.i) if one.kind == 2 else one.i)
            scalar += 1
            continue
        one = call.tensors[tensor]
        spec = _Spec(one)
        own = of_call or bool(one.data)
        values.append(_values.lent(one.data, spec, tensor >= call.num_inputs) if own else _values.stand_in(spec))
        tensor += 1
    return values


def _prepare(address):
    global _plan, _returned
    call = _Call.from_address(address)
    _values.enter(call)
    _plan = _returned = None
    _values.begin(tuple(_Spec(call.tensors[i]).shape for i in range(call.num_tensors)))
    values = _arguments(call, False)
    prepare = getattr(_module, "prepare", None)
    if callable(prepare):
        _plan = prepare(*values)
    if isinstance(_values, _Torch) and _values.device == "cuda":
        run, arguments = _bound(values)
        run(*arguments)
        _deliver()
        _values.torch.cuda.synchronize()


def _ready(address):
    call = _Call.from_address(address)
    _values.enter(call)
    run, arguments = _bound(_arguments(call, True))
    return run, tuple(arguments)


def _bound(values):
    run = _entry if _plan is None else functools.partial(_entry, plan=_plan)
    if _destination_passing:
        return run, values
    inputs, outputs = values[:len(_inputs)], values[len(_inputs):]
    return functools.partial(_run_returning, run, outputs), inputs


def _run_returning(run, outputs, *inputs):
    global _returned
    value = run(*inputs)
    if isinstance(value, dict):
        value = [value[name] for name in _outputs]
    elif not isinstance(value, (tuple, list)):
        value = [value]
    if len(value) != len(outputs):
        raise TypeError("run() returned %d values; the Definition has %d outputs" % (len(value), len(outputs)))
    _returned = list(zip(_outputs, outputs, value))


def _deliver():
    global _returned
    if _returned is None:
        return
    for name, out, value in _returned:
        _values.put(name, out, value)
    _returned = None


def _notes():
    said = getattr(_module, "notes", None)
    words = list(_notes_said) + ([str(said())] if callable(said) else [])
    return "; ".join(words)


def _last_line(error):
    """The traceback's last line, and where in the Solution it was raised."""
    words = traceback.format_exception_only(type(error), error)[-1].strip()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if _folder and frame.filename.startswith(_folder):
            return "%s (%s, line %s)" % (words, os.path.relpath(frame.filename, _folder), frame.lineno)
    return words


def _explain(error):
    """(code of a Verdict, sentence)"""
    if isinstance(error, Unsupported):
        return _UNSUPPORTED, str(error)
    if isinstance(error, _Refused):
        if error.__cause__ is not None:
            traceback.print_exception(type(error.__cause__), error.__cause__, error.__cause__.__traceback__)
        return error.code, str(error)
    traceback.print_exception(type(error), error, error.__traceback__)
    if isinstance(error, ModuleNotFoundError):
        return _DEPENDENCY_MISSING, _last_line(error)
    return _RETURNED_ERROR, _last_line(error)
