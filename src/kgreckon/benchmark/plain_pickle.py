"""Pickles of plain data, read without trusting them: nothing is imported, called or built but plain containers.

Python's own unpickler runs what a file tells it to, and even one that is kept from doing so can be made to take all
memory. This one knows the few opcodes that tuples, lists, sets, dictionaries, strings and integers are written with.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgreckon.errors import UserError

MOST_BYTES = 2**30
_MOST_NODES = 64  # of a key: hashing takes as long as a tuple is large when it is written out
_ALLOWED = "only tuples, lists, sets, dictionaries, strings and integers are read"
_EVERY = 2**20  # bytes between two reports of progress

# What a file may call, and what it gets for it. A default is for keys that are looked up, and nothing looks any up.
_CONTAINERS: dict[str, type] = {"set": set, "frozenset": frozenset, "list": list}
_MODULES = ("builtins", "__builtin__")
_DEFAULT_DICT = ("collections", "defaultdict")


class _ForbiddenError(Exception):
    """The file contains something other than plain data; the message says what."""


def read_plain_pickle(path: Path, advance: Callable[[int, int], None] = lambda done, total: None) -> Any:
    """The tuples, lists, sets, dictionaries, strings and integers in a pickle; a UserError where it holds more.

    A `defaultdict` of sets or lists becomes a plain dictionary. `advance` hears of so many bytes of so many.
    """
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UserError(f"{path} has {size:,} bytes; at most {MOST_BYTES:,} are read")
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from None
    machine = _Machine(data)
    try:
        while not machine.run(_EVERY):
            advance(machine.position, size)
        content = machine.stack[-1]
    except _ForbiddenError as error:
        raise UserError(f"{path}: byte {machine.start:,}: {error}; {_ALLOWED}") from None
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is not a whole pickle: byte {machine.start:,}: {error}") from None
    advance(size, size)
    return content


class _Class:
    """The name of a class that a pickle refers to."""

    def __init__(self, module: str, name: str) -> None:
        if (module, name) != _DEFAULT_DICT and not (module in _MODULES and name in _CONTAINERS):
            raise _ForbiddenError(f"it refers to {module}.{name}"[:200])
        self.name = name


class _Machine:
    """The stack that a pickle's opcodes work on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.position, self.start = data, 0, 0
        self.stack: list[Any] = []
        self._marks: list[int] = []  # how high the stack was at each mark
        self._memo: dict[int, Any] = {}
        self._numbers = list(range(2**16))  # so that equal ones are one object
        self._copies = len(data)  # items that may still be copied: no file needs more than it has bytes

    def run(self, count: int) -> bool:
        """Do what the next bytes say, about so many of them; whether the pickle's end was among them."""
        data, push, numbers = self.data, self.stack.append, self._numbers
        position = self.position
        end = position + count
        while position < end:
            code = data[position]
            if code == _BYTE:  # nearly all of a file is numbers: they are not worth a call each
                push(data[position + 1])
                position += 2
            elif code == _TWO_BYTES:
                push(numbers[data[position + 1] | data[position + 2] << 8])
                position += 3
            else:
                self.start, self.position = position, position + 1
                if code == _STOP:
                    return True
                do = _OPCODES.get(code)
                if do is None:
                    raise _ForbiddenError(f"it holds the opcode {_NAMES.get(code, code)}")
                do(self)
                position = self.position
        self.position = position
        return False

    # ------------------------------------------------------------------------------------------------ arguments

    def take(self, count: int) -> bytes:
        """The next bytes."""
        taken = self.data[self.position : self.position + count]
        if len(taken) < count:
            raise ValueError("the file ends early")
        self.position += count
        return taken

    def number(self, count: int, signed: bool = False) -> int:
        """The next bytes as a number."""
        return int.from_bytes(self.take(count), "little", signed=signed)

    def line(self) -> str:
        """What stands before the next line end."""
        end = self.data.index(b"\n", self.position)
        return self.take(end + 1 - self.position)[:-1].decode()

    # ------------------------------------------------------------------------------------------- numbers and text

    def integer(self) -> None:
        self.stack.append(self.number(4, signed=True))

    def long_integer(self) -> None:
        size = self.number(1)
        if size > 8:
            raise _ForbiddenError(f"it holds an integer of {size} bytes")
        self.stack.append(self.number(size, signed=True))

    def text(self, size: int) -> None:
        self.stack.append(self.take(self.number(size)).decode())

    # ------------------------------------------------------------------------------------------------- containers

    def mark(self) -> None:
        self._marks.append(len(self.stack))

    def since_mark(self) -> list[Any]:
        """What was put on the stack since the last mark."""
        height = self._marks.pop()
        items = self.stack[height:]
        del self.stack[height:]
        return items

    def tuple_of(self, count: int) -> None:
        if len(self.stack) - (self._marks[-1] if self._marks else 0) < count:
            raise IndexError("the stack is empty")
        self.stack[-count:] = [tuple(self.stack[-count:])]

    def append(self) -> None:
        item = self.stack.pop()
        self._top(list).append(item)

    def extend(self) -> None:
        items = self.since_mark()
        self._top(list).extend(items)

    def add_items(self) -> None:
        items = self.since_mark()
        _check_keys(items)
        self._top(set).update(items)

    def frozen_set(self) -> None:
        items = self.since_mark()
        _check_keys(items)
        self.stack.append(frozenset(items))

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _check_keys([key])
        self._top(dict)[key] = value

    def set_items(self) -> None:
        items = self.since_mark()
        _check_keys(items[::2])
        self._top(dict).update(zip(items[::2], items[1::2], strict=True))

    def _top(self, kind: type) -> Any:
        top = self.stack[-1]
        if type(top) is not kind:
            raise TypeError(f"items are put into something that is not a {kind.__name__}")
        return top

    # ---------------------------------------------------------------------------------- classes, and calls of them

    def class_by_lines(self) -> None:
        self.stack.append(_Class(self.line(), self.line()))

    def class_by_names(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise TypeError("a class is named by something that is not text")
        self.stack.append(_Class(module, name))

    def call(self) -> None:
        arguments, called = self.stack.pop(), self.stack.pop()
        if not isinstance(called, _Class) or type(arguments) is not tuple:
            raise TypeError("something is called that is not a class")
        if called.name == _DEFAULT_DICT[1]:
            if not all(isinstance(factory, _Class) and factory.name in ("set", "list") for factory in arguments):
                raise _ForbiddenError("it holds a dictionary whose default is neither a set nor a list")
            self.stack.append({})
            return
        items = arguments[0] if arguments else []
        if len(arguments) > 1 or type(items) not in (list, tuple):
            raise TypeError(f"a {called.name} is made of something that is not a list")
        self._copies -= len(items)
        if self._copies < 0:
            raise _ForbiddenError("it copies one list again and again")
        if called.name != "list":
            _check_keys(items)
        self.stack.append(_CONTAINERS[called.name](items))

    # ------------------------------------------------------------------------------------------------------- memo

    def remember(self, index: int) -> None:
        self._memo[index] = self.stack[-1]

    def remember_next(self) -> None:
        self._memo[len(self._memo)] = self.stack[-1]

    def recall(self, index: int) -> None:
        self.stack.append(self._memo[index])


def _check_keys(keys: list[Any]) -> None:
    """Raise where a key of a dictionary or an item of a set is more than a number, a text or a small tuple of them."""
    if set(map(type, keys)) <= {int, str}:
        return
    for key in keys:
        nodes, count = [key], 1
        while nodes:
            node = nodes.pop()
            if type(node) is tuple:
                nodes += node
                count += len(node)
            elif type(node) is not int and type(node) is not str:
                raise _ForbiddenError(f"it holds a key with a {type(node).__name__.strip('_').lower()} in it")
            if count > _MOST_NODES:
                raise _ForbiddenError(f"it holds a key of more than {_MOST_NODES} parts")


_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}
_CODE = {name: code for code, name in _NAMES.items()}
_STOP, _BYTE, _TWO_BYTES = _CODE["STOP"], _CODE["BININT1"], _CODE["BININT2"]
_OPCODES: dict[int, Callable[[_Machine], object]] = {
    _CODE[name]: do
    for name, do in {
        "PROTO": lambda machine: machine.take(1),
        "FRAME": lambda machine: machine.take(8),
        "BININT": _Machine.integer,
        "LONG1": _Machine.long_integer,
        "SHORT_BINUNICODE": lambda machine: machine.text(1),
        "BINUNICODE": lambda machine: machine.text(4),
        "BINUNICODE8": lambda machine: machine.text(8),
        "MARK": _Machine.mark,
        "EMPTY_TUPLE": lambda machine: machine.stack.append(()),
        "TUPLE1": lambda machine: machine.tuple_of(1),
        "TUPLE2": lambda machine: machine.tuple_of(2),
        "TUPLE3": lambda machine: machine.tuple_of(3),
        "TUPLE": lambda machine: machine.stack.append(tuple(machine.since_mark())),
        "EMPTY_LIST": lambda machine: machine.stack.append([]),
        "APPEND": _Machine.append,
        "APPENDS": _Machine.extend,
        "LIST": lambda machine: machine.stack.append(machine.since_mark()),
        "EMPTY_SET": lambda machine: machine.stack.append(set()),
        "ADDITEMS": _Machine.add_items,
        "FROZENSET": _Machine.frozen_set,
        "EMPTY_DICT": lambda machine: machine.stack.append({}),
        "SETITEM": _Machine.set_item,
        "SETITEMS": _Machine.set_items,
        "GLOBAL": _Machine.class_by_lines,
        "STACK_GLOBAL": _Machine.class_by_names,
        "REDUCE": _Machine.call,
        "MEMOIZE": _Machine.remember_next,
        "BINPUT": lambda machine: machine.remember(machine.number(1)),
        "LONG_BINPUT": lambda machine: machine.remember(machine.number(4)),
        "BINGET": lambda machine: machine.recall(machine.number(1)),
        "LONG_BINGET": lambda machine: machine.recall(machine.number(4)),
    }.items()
}
