"""Loops that NumPy has no word for, as machine code where Numba is installed."""

import importlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

_LOADED = 80e6  # bytes
_Loop = TypeVar("_Loop", bound=Callable[..., Any])


@cache
def can_compile() -> bool:
    """Tell whether Numba is there and works with this NumPy; the first call imports it."""
    try:
        importlib.import_module("numba")
    except ImportError:  # not installed, or older than the NumPy that is
        return False
    return True


def loading_bytes() -> float:
    """Return what the first compiled loop of a process takes: Numba, and its machine code."""
    return 0.0 if compiled.cache_info().currsize else _LOADED


def in_any_order(loop: _Loop) -> _Loop:
    """Let the terms of a loop be added up in another order than is written: several at a time.

    Used as a decorator; it says nothing of the functions that the loop calls.
    """
    loop.in_any_order = True  # type: ignore[attr-defined]
    return loop


@cache
def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return `loop` as machine code that runs without Python's lock.

    Functions of the same module that it calls are compiled with it. The code is kept in the
    user's cache for the next process, never beside the source.
    """
    numba = importlib.import_module("numba")
    # Division as NumPy does it: a check for zero would keep loops from being vectorised.
    how = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
    if getattr(loop, "in_any_order", False):
        how["fastmath"] = {"reassoc", "contract"}
    made = numba.njit(**how)(_with_compiled_parts(loop))
    with suppress(ImportError, AttributeError, RuntimeError, OSError):  # nowhere to keep it
        made._cache = _user_cache()(made.py_func)
    return made  # type: ignore[no-any-return]


@cache
def _user_cache() -> Any:
    """Return Numba's cache of a function, of the folders that are the user's alone."""
    caching = importlib.import_module("numba.core.caching")
    locators = [  # NUMBA_CACHE_DIR first; in older versions their names begin with a bar
        getattr(caching, name, None) or getattr(caching, f"_{name}")
        for name in ("UserProvidedCacheLocator", "UserWideCacheLocator")
    ]

    class UserFolders(caching.CompileResultCacheImpl):  # type: ignore[name-defined]
        _locator_classes = locators

    class UserCache(caching.FunctionCache):  # type: ignore[name-defined]
        _impl_class = UserFolders

    return UserCache


def _with_compiled_parts(loop: Any) -> Any:
    """Return a function like `loop` that calls compiled ones."""
    known = loop.__globals__
    parts = {
        name: compiled(known[name])
        for name in loop.__code__.co_names
        if getattr(known.get(name), "__module__", None) == loop.__module__
        and isinstance(known[name], FunctionType)
    }
    if not parts:
        return loop
    return FunctionType(loop.__code__, known | parts, loop.__name__)
