"""Files and folders on disk: whole or not there, durable, sealed by checksums, written by one process at a time.

docs/reliability.md says what is promised.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import re
import shutil
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.errors import UserError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

# Names of our own within folders that are written, or beside them: whoever holds the lock may remove them.
_OURS = ".kgreckon-"
_LOCK, _NEW, _OLD = f"{_OURS}lock", f"{_OURS}new-", f"{_OURS}old-"
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows has no quotas


# --------------------------------------------------------------------------------------------------- one at a time


@contextmanager
def writing(folder: Path, make: bool = False) -> Iterator[None]:
    """Be the only process that writes in `folder`, which must be there unless it is to be made.

    Raises a UserError where another process writes there. What a killed one left unfinished is removed.
    """
    if not make and not folder.is_dir():
        raise UserError(f"{folder}: no such folder")
    place = folder.resolve()  # so that '.' has a name and a parent
    with _made(place.parent), ExitStack() as beside:
        if not place.exists() or _lock_beside(place).exists():  # the latter of a process that was killed
            # Nobody else makes it, or moves one to its name, until it is locked.
            beside.enter_context(_locked(_lock_beside(place), folder))
        with _made(place), _locked(place / _LOCK, folder):
            beside.close()
            for leftover in place.glob(f"{_NEW}*"):
                _remove(leftover)
            yield


def _lock_beside(folder: Path) -> Path:
    """The lock of the name `folder`, for those who make a folder of that name; one inside is for those who write."""
    return folder.with_name(f"{_LOCK}-{folder.name}")


@contextmanager
def _locked(path: Path, folder: Path) -> Iterator[None]:
    """Hold the lock file at `path`, which is there only while a process is at work, or was killed at it."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise UserError(f"{folder} cannot be written: {error.strerror}") from None
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UserError(f"{folder} is being written by another process: wait until it is done") from None
        except OSError:
            pass  # a file system without locks
        if _is_at(descriptor, path):
            break
        os.close(descriptor)  # its holder removed it between our opening and locking it: the lock is another file now
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            if _is_at(descriptor, path):  # while we hold it nobody else removes it, but the folder may be another
                path.unlink()
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """`folder` and its parents, which are removed again where nothing came into them."""
    try:
        new = make_folders(folder)
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield
    finally:
        with suppress(OSError):  # the first that is not empty
            for path in new:
                path.rmdir()


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and its parents, and return those that were not there, the innermost first."""
    new = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in new:
        sync(path.parent)
    return new


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


# ------------------------------------------------------------------------------------------------ whole or not there


def sync(path: Path) -> None:
    """Have the system write a file, or the names in a folder, to the disk itself."""
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    """Say where a disk was full: the system names no file that is open already."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:
            error.filename = str(path)
        raise


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends and removed if the block fails.

    So the old file is whole until the new one is, on the disk too.
    """
    temporary = path.with_name(_NEW + path.name)
    with _writing_to(path), _replaced(path, temporary):
        yield temporary


@contextmanager
def _replaced(path: Path, temporary: Path) -> Iterator[None]:
    try:
        yield
        sync(temporary)
        temporary.replace(path)
        sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def room_beside(temporary: Path) -> Iterator[Path]:
    """A folder for a library that leaves files of its own where it is killed; it goes when the block ends."""
    room = temporary.with_name(f"{temporary.name}-room")
    shutil.rmtree(room, ignore_errors=True)  # of a writer that was killed
    room.mkdir()
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """The same for a file of any place that the user names: nobody else writes it meanwhile."""
    path = Path(path).resolve()  # so that a link stays one
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a file that can be replaced: name another")
    with _locked(_lock_beside(path), path), replacing(path) as temporary:
        yield temporary


@contextmanager
def new_part(folder: Path) -> Iterator[Path]:
    """The same for a folder, within one that this process is `writing`: each file is synced once, at the end."""
    target = folder.with_name(_NEW + folder.name)
    if target.exists():  # of a writer that was killed
        _remove(target)
    with _writing_to(folder), _swapped_in(target, folder):
        yield target


@contextmanager
def _swapped_in(target: Path, folder: Path) -> Iterator[None]:
    try:
        target.mkdir()
        yield
        for path in target.rglob("*"):
            sync(path)
        sync(target)
        if folder.exists():
            _exchange(target, folder)
        else:
            target.replace(folder)
        sync(folder.parent)
    finally:
        shutil.rmtree(target, ignore_errors=True)  # what failed, or what stood there before


@contextmanager
def new_folder(folder: Path, header: str | None = None, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder that gets the name `folder` when the block ends and is removed if the block fails.

    What may stand under that name before is what `check_free` allows; it stays until the new one is whole. Nobody else
    writes there meanwhile.
    """
    folder = Path(folder).resolve()  # so that '.' has a name and a parent, and a link stays one
    with _place_of_its_own(folder):
        check_free(folder, header, overwrite)
        with _made(folder), _locked(folder / _LOCK, folder):  # also kept from those who would write in it
            check_free(folder, header, overwrite)
            with new_part(folder) as target:
                yield target


@contextmanager
def _place_of_its_own(folder: Path) -> Iterator[None]:
    """Be the only process that makes or replaces a folder; what killed ones left beside it is put right."""
    old = folder.with_name(_OLD + folder.name)
    with _made(folder.parent), _locked(_lock_beside(folder), folder):
        if old.exists():  # of a writer that was killed between two renames
            _remove(old) if folder.exists() else old.replace(folder)
        if (leftover := folder.with_name(_NEW + folder.name)).exists():  # of one that was killed before or after
            _remove(leftover)
        yield


def put_right(folder: Path) -> None:
    """Remove what a killed writer left beside a folder that is as it should be, and is not replaced now."""
    with _place_of_its_own(folder.resolve()):
        pass


def _exchange(new: Path, folder: Path) -> None:
    """Let two folders swap their names: at once on Linux, else with a moment at which `folder` is absent."""
    if not _exchanged_at_once(new, folder):
        old = folder.with_name(_OLD + folder.name)
        folder.replace(old)
        try:
            new.replace(folder)
        except BaseException:
            old.replace(folder)
            raise
        old.replace(new)


def _exchanged_at_once(one: Path, other: Path) -> bool:
    """Swap two names by Linux's renameat2; False where the system or the file system cannot."""
    if sys.platform != "linux":
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:  # a C library of before 2018
        return False
    if renameat2(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number), str(other))


def check_free(folder: Path, header: str | None = None, overwrite: bool = False) -> None:
    """Raise a UserError unless `folder` may be written.

    It may be absent or empty; with `overwrite` it may also be a folder of ours, which has a file called `header`.
    """
    occupied = is_occupied(folder)
    ours = occupied and header is not None and _is_ours(folder / header)
    if occupied and not (ours and overwrite):
        remedy = "; use --overwrite to replace it" if ours else ""
        if overwrite:
            remedy = " and is not what --overwrite may replace"
        raise UserError(f"{folder} already exists{remedy}")


def is_occupied(folder: Path) -> bool:
    """Whether something stands at `folder`: a file, or a folder with more in it than what a killed writer left."""
    if not folder.is_dir():
        return folder.exists()
    return any(not path.name.startswith(_OURS) for path in folder.iterdir())


def _is_ours(header: Path) -> bool:
    """Whether a file is a header of ours, even a damaged one: many a folder holds a file called graph.json."""
    try:
        return b'"kgreckon-' in header.read_bytes()
    except OSError:
        return False


# ----------------------------------------------------------------------------------------------------- checksums

# A sealed file begins with its own checksum, taken with zeros in its place; other files are listed in a sealed one.
_SEAL = re.compile(rb'"checksum": ?"([0-9a-f]{8})"')
_ZEROS = "0" * 8
UNSEALED = {"checksum": _ZEROS}
_HEAD = 64  # bytes, within which the seal stands
_DAMAGED = "is damaged: its checksum is another; kgreckon check FOLDER says what still holds"


def sealed(content: bytes) -> bytes:
    """The content with its checksum where it has zeros."""
    seal = _SEAL.search(content[:_HEAD])
    assert seal is not None
    return content[: seal.start(1)] + checksum(content).encode() + content[seal.end(1) :]


def seal_file(path: Path) -> None:
    """Put its checksum into a file that has zeros there."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        seal = _SEAL.search(content[:_HEAD])
        assert seal is not None
        file.seek(seal.start(1))
        file.write(checksum(content).encode())


def fits_seal(content: bytes | memoryview | mmap.mmap) -> bool | None:
    """Whether content has the checksum that it is sealed with; None where it has no seal, as in older files."""
    seal = _SEAL.search(bytes(content[:_HEAD]))
    if seal is None:
        return None
    with memoryview(content) as view:
        with_zeros = zlib.crc32(_ZEROS.encode(), zlib.crc32(view[: seal.start(1)]))
        return seal[1] == b"%08x" % zlib.crc32(view[seal.end(1) :], with_zeros)


def fits_seal_of(data: dict[str, Any], content: bytes) -> bool | None:
    """The same of JSON that was read; also False where there was a seal, which cannot be read any more."""
    fits = fits_seal(content)
    if fits is None and data:
        key, value = next(iter(data.items()))
        if key == "checksum" or (isinstance(value, str) and re.fullmatch("[0-9a-f]{8}", value)):
            return False
    return fits


def check_seal(path: Path) -> None:
    """Raise a UserError where a file is not what was written; older files have no seal."""
    if fits_seal(memoryview(mapped(path))) is False:
        raise UserError(f"{path} {_DAMAGED}")


def checksum(content: bytes | memoryview | mmap.mmap | pa.Buffer) -> str:
    """The CRC-32 of some bytes: it finds every flipped bit, and all but one in four billion of other damages."""
    return f"{zlib.crc32(content):08x}"


def listing(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """The sizes and checksums of files by name, to be kept in a sealed one."""
    return {path.name: _described(mapped(path)) for path in paths}


def mapped(path: Path) -> pa.Buffer:
    """The content of a file, mapped into memory."""
    with pa.memory_map(str(path)) as source:
        return source.read_buffer()


def _described(content: bytes | pa.Buffer) -> dict[str, Any]:
    return {"bytes": len(content), "crc32": checksum(content)}


def check_listed(path: Path, content: bytes | pa.Buffer, files: Any) -> None:
    """Raise a UserError unless a file's content is what `files` lists under its name; older folders have no list."""
    if files is not None and (not isinstance(files, dict) or files.get(path.name) != _described(content)):
        raise UserError(f"{path} {_DAMAGED}")


# ------------------------------------------------------------------------------------------------ texts of users


def standard_input() -> BinaryIO:
    """The bytes of standard input; a UserError where it is closed."""
    if sys.stdin is None:
        raise UserError("standard input cannot be read: it is closed")
    return sys.stdin.buffer


def read_text(path: Path) -> str:
    """The text of a file that a user names, or of standard input, which is called `-`."""
    name = "standard input" if str(path) == "-" else str(path)
    try:
        return (standard_input().read() if str(path) == "-" else path.read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{name} cannot be read: it is not text in UTF-8") from None


# ------------------------------------------------------------------------------------------------ JSON and Arrow


def as_json(data: Mapping[str, Any], indent: int | None = 2) -> bytes:
    """Sealed JSON."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    text = json.dumps({**UNSEALED, **rest}, indent=indent, ensure_ascii=False)
    return sealed(f"{text}\n".encode())


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write data as sealed JSON, durably."""
    with replacing(path) as temporary:
        temporary.write_bytes(as_json(data))


def read_json(path: Path, problem: str = "does not hold a JSON object") -> dict[str, Any]:
    """The object in a JSON file; a UserError with the `problem` where there is none, and where its seal is broken."""
    return _unsealed(path, problem)[0]


def read_header(path: Path, kind: str, version: int) -> dict[str, Any]:
    """The header of a folder of ours of some kind, of this or an earlier version; from version 2 on it is sealed."""
    problem = f"is not the header of a {kind} folder"
    header, is_sealed = _unsealed(path, problem)
    if header.get("format") != f"kgreckon-{kind}":
        raise UserError(f"{path} {problem}")
    header_version = header.get("version")
    if not isinstance(header_version, int) or not 1 <= header_version <= version:
        raise UserError(f"{path} has version {header_version}; this kgreckon reads version {version} and those before")
    if header_version > 1 and not is_sealed:
        raise UserError(f"{path} {_DAMAGED}")
    return header


def _unsealed(path: Path, problem: str) -> tuple[dict[str, Any], bool]:
    """The object in a JSON file without its seal, and whether it had one."""
    try:
        content = path.read_bytes()
        data = json.loads(content.decode())
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} {problem}")
    fits = fits_seal_of(data, content)
    if fits is False:
        raise UserError(f"{path} {_DAMAGED}")
    return {key: value for key, value in data.items() if key != "checksum"}, fits is True


def write_table(path: Path, table: pa.Table, compress: bool = False) -> None:
    """Write an Arrow file, as a part of something new; uncompressed ones can be mapped into memory."""
    options = pa.ipc.IpcWriteOptions(compression="zstd" if compress else None)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def read_table(
    path: Path,
    schema: pa.Schema,
    nullable: Collection[str] = (),
    files: Any = None,
    fitting: Callable[[pa.Schema, pa.Schema], pa.Schema] = lambda schema, found: schema,
) -> pa.Table:
    """The table in an Arrow file, mapped into memory.

    Raises a UserError where it is not what `files` lists, if there is such a list; where its columns are not those of
    `schema`, made `fitting` to what is found; or where a column that is not `nullable` has missing entries.
    """
    try:
        content = mapped(path)
        check_listed(path, content, files)
        table = pa.ipc.open_file(content).read_all()
        require_columns(path, table.schema, fitting(schema, table.schema))
        table.validate(full=True)  # Arrow trusts offsets and text unless asked; a bad one can crash the process
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        first_line = str(error).partition("\n")[0]
        raise UserError(f"{path} is not a readable Arrow file: {first_line}") from None
    for name in table.column_names:
        if name not in nullable and table[name].null_count:
            raise UserError(f"{path} is damaged: the column {name!r} has missing entries")
    return table


def require_columns(path: Path, found: pa.Schema, expected: pa.Schema) -> None:
    """Raise a UserError where a table has other columns."""
    if not found.equals(expected):
        raise UserError(f"{path} has the columns {_column_list(found)}; expected {_column_list(expected)}")


def _column_list(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def column_of(table: pa.Table, name: str) -> np.ndarray:
    """A column without missing entries, as an array that shares its memory where it can."""
    return np.from_dlpack(table[name].combine_chunks())  # to_numpy imports pandas where there is one
