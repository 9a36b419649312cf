"""A stand-in for CuPy where it is not installed: numpy arrays in memory that the CPU and the GPU share.

It has what the exported file uses. Operations run in numpy on the CPU; kernels read and write the same
memory. Call ready() before the CPU reads what a kernel has written.
"""
import ctypes
import types

import numpy

from numpy import (abs, clip, dtype, float16, float32, float64, searchsorted, signbit, uint8, where)  # noqa: F401

_driver = ctypes.CDLL("libcuda.so.1")


def _call(name, *args):
    code = getattr(_driver, name)(*args)
    if code:
        raise RuntimeError("%s: error %d" % (name, code))


_call("cuInit", 0)
_context = ctypes.c_void_p()
_call("cuDevicePrimaryCtxRetain", ctypes.byref(_context), 0)
_call("cuCtxSetCurrent", _context)


class _Device:
    id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class ndarray(numpy.ndarray):
    device = _Device()

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)


def empty(shape, dtype=float64):
    n = max(int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize, 1)
    at = ctypes.c_uint64()
    _call("cuMemAllocManaged", ctypes.byref(at), ctypes.c_size_t(n), 1)
    memory = (ctypes.c_char * n).from_address(at.value)
    return numpy.frombuffer(memory, dtype=dtype, count=int(numpy.prod(shape))).reshape(shape).view(ndarray)


def zeros(shape, dtype=float64):
    a = empty(shape, dtype)
    a[...] = 0
    return a


def asarray(a):
    a = numpy.asarray(a)
    out = empty(a.shape, a.dtype)
    out[...] = a
    return out


ascontiguousarray = asarray


def ready():
    _call("cuCtxSynchronize")


cuda = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
