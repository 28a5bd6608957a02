"""Faults at any step: the k-th write, flush, renaming or large allocation fails."""

import contextlib
import contextvars
import ctypes
import errno
import functools
import inspect
import io
import os
import sys
import threading
from pathlib import Path

import numpy as np
from interruptions import AtCall

LARGE = 1_000_000  # bytes of an allocation that may fail

# What fails, and what the system then says.
SAID = {
    "open": errno.EMFILE,
    "write": errno.ENOSPC,
    "lseek": errno.EIO,
    "fsync": errno.EIO,
    "replace": errno.EACCES,
}


class Fault:
    """One function of `os` that fails when it is called for the k-th time, half done."""

    def __init__(self, name, k):
        self.name, self.left, self.plain = name, k, getattr(os, name)

    @property
    def happened(self):
        """Whether there was a k-th call."""
        return self.left <= 0

    def __call__(self, *arguments, **options):
        self.left -= 1
        if self.left == 0:
            if self.name == "write":
                self.plain(arguments[0], arguments[1][: len(arguments[1]) // 2])
            raise OSError(SAID[self.name], os.strerror(SAID[self.name]))
        return self.plain(*arguments, **options)

    @contextlib.contextmanager
    def under(self):
        """Let the function fail within the block."""
        setattr(os, self.name, self)
        try:
            yield
        finally:
            setattr(os, self.name, self.plain)


class _Reading(io.FileIO):
    fault = None

    def readinto(self, space):
        self.fault.left -= 1
        if self.fault.left == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().readinto(space)


class Unreadable:
    """A disk whose k-th piece of a model file cannot be read."""

    def __init__(self, k):
        self.left = k

    happened = Fault.happened

    @contextlib.contextmanager
    def under(self):
        """Let the reading fail within the block."""
        from mercer.store import _file_reading as reading

        plain, _Reading.fault = reading.FileIO, self
        reading.FileIO = _Reading
        try:
            yield
        finally:
            reading.FileIO = plain


_place, _size = ctypes.c_void_p, ctypes.c_size_t
_Malloc = ctypes.CFUNCTYPE(_place, _place, _size)
_Calloc = ctypes.CFUNCTYPE(_place, _place, _size, _size)
_Realloc = ctypes.CFUNCTYPE(_place, _place, _place, _size)


class _Allocator(ctypes.Structure):
    """Python's PyMemAllocatorEx: NumPy's PyDataMemAllocator, but for the last of `free`."""

    _fields_ = (
        ("context", _place),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _place),
    )


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler (NEP 49)."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", _Allocator),
    )


class _Memory:
    """Memory of NumPy's arrays, of which one large piece can be refused. There is but one."""

    fault = None

    def __init__(self):
        self.raw = raw = _Allocator()
        ctypes.pythonapi.PyMem_GetAllocator(0, ctypes.byref(raw))
        refuse = self._refuse
        # Memory may be let go while an error is on its way, when no Python may run.
        mine = _Allocator(
            raw.context,
            _Malloc(lambda at, size: None if refuse(size) else raw.malloc(at, size)),
            _Calloc(lambda at, n, size: None if refuse(n * size) else raw.calloc(at, n, size)),
            _Realloc(lambda at, p, size: None if refuse(size) else raw.realloc(at, p, size)),
            raw.free,
        )
        self.handler = _Handler(b"tests", 1, mine)
        table = _capsule(np._core._multiarray_umath._ARRAY_API)
        places = ctypes.cast(table, ctypes.POINTER(_place))
        self.set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(places[304])
        make = ctypes.pythonapi.PyCapsule_New
        make.argtypes, make.restype = [_place, ctypes.c_char_p, _place], ctypes.py_object
        self.capsule = make(ctypes.addressof(self.handler), b"mem_handler", None)

    def _refuse(self, size):
        fault = _Memory.fault
        if fault is None or size < LARGE:
            return False
        fault.left -= 1
        return fault.left == 0


def _capsule(held):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], _place
    return get(held, None)


@functools.cache
def _memory():
    """Return the one memory, which outlives all arrays in it."""
    return _Memory()


class Scarce:
    """Memory in which the k-th array of more than a megabyte finds no room, in any thread."""

    def __init__(self, k):
        self.left = k

    happened = Fault.happened

    @contextlib.contextmanager
    def under(self):
        """Let the allocation fail within the block."""
        memory = _memory()
        run, start = threading.Thread.run, threading.Thread.start

        def started(thread):
            thread.context = contextvars.copy_context()
            start(thread)

        def running(thread):
            getattr(thread, "context", contextvars.copy_context()).run(run, thread)

        before = memory.set(memory.capsule)
        threading.Thread.start, threading.Thread.run = started, running
        _Memory.fault = self
        try:
            yield
        finally:
            _Memory.fault = None
            threading.Thread.start, threading.Thread.run = start, run
            memory.set(before)


class _AtCall(AtCall):
    """No fault where a generator goes on: there is nothing that takes memory."""

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_flags & inspect.CO_GENERATOR:
            super().__call__(frame, event, argument)


class Anywhere:
    """A want of memory at the k-th call of any function of the package."""

    def __init__(self, k):
        self._at = _AtCall(k, MemoryError("none left"))

    happened = Fault.happened

    @property
    def left(self):
        """How many calls there are until then."""
        return self._at.left

    @contextlib.contextmanager
    def under(self):
        """Let the call fail within the block."""
        before = sys.gettrace()
        sys.settrace(self._at)
        try:
            yield
        finally:
            sys.settrace(before)


def fault(kind, k):
    """Return a fault of one kind, at its k-th step."""
    if kind in SAID:
        return Fault(kind, k)
    return {"read": Unreadable, "memory": Scarce, "call": Anywhere}[kind](k)


def files_open():
    """Return how many files this process has open."""
    places = Path("/dev/fd")
    return len(list(places.iterdir())) if places.exists() else 0
