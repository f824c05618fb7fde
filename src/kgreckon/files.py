"""Files and folders on disk: written beside their name and then renamed, JSON, Arrow tables, locks."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.errors import UserError

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends and removed if the block fails.

    So a crash leaves the old file whole.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


# ------------------------------------------------------------------------------------------------ JSON and Arrow


def write_json(path: Path, data: Any) -> None:
    """Write data as indented JSON."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path, problem: str = "does not hold a JSON object") -> dict[str, Any]:
    """The object in a JSON file; a UserError with the `problem` where it holds something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise UserError(f"{path} {problem}")
    return data


def write_table(path: Path, table: pa.Table, compress: bool = False) -> None:
    """Write an Arrow file; uncompressed ones can be mapped into memory."""
    options = pa.ipc.IpcWriteOptions(compression="zstd" if compress else None)
    with (
        replacing(path) as temporary,
        pa.OSFile(str(temporary), "wb") as sink,
        pa.ipc.new_file(sink, table.schema, options=options) as writer,
    ):
        writer.write_table(table)


def read_table(path: Path, schema: pa.Schema, nullable: Collection[str] = ()) -> pa.Table:
    """The table in an Arrow file, mapped into memory.

    Raises a UserError where its columns are not those of `schema`, or where a column that is not `nullable` has
    missing entries.
    """
    try:
        with pa.memory_map(str(path)) as source:
            table = pa.ipc.open_file(source).read_all()
        if not table.schema.equals(schema):
            raise UserError(f"{path} has the columns {_column_list(table.schema)}; expected {_column_list(schema)}")
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


def _column_list(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in schema)


def column_of(table: pa.Table, name: str) -> np.ndarray:
    """A column without missing entries, as an array that shares its memory where it can."""
    return table[name].combine_chunks().to_numpy(zero_copy_only=False)


# ------------------------------------------------------------------------------------------------------- folders


def check_free(folder: Path, header: str | None = None, overwrite: bool = False) -> None:
    """Raise a UserError unless `folder` may be written.

    It may be absent or empty; with `overwrite` it may also be a folder of ours, which has a file called `header`.
    """
    occupied = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    ours = occupied and header is not None and _is_ours(folder / header)
    if occupied and not (ours and overwrite):
        remedy = "; use --overwrite to replace it" if ours else ""
        if overwrite:
            remedy = " and is not what --overwrite may replace"
        raise UserError(f"{folder} already exists{remedy}")


def _is_ours(header: Path) -> bool:
    """Whether a file is a header that kgreckon wrote: many a folder holds a file called graph.json."""
    try:
        return str(read_json(header).get("format")).startswith("kgreckon-")
    except UserError:
        return False


@contextmanager
def new_folder(folder: Path, header: str | None = None, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder that gets the name `folder` when the block ends and is removed if the block fails.

    What may stand under that name before is what `check_free` allows.
    """
    folder = Path(folder).resolve()  # so that '.' has a name and a parent, and a link stays one
    check_free(folder, header, overwrite)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        target = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(f"{folder} cannot be written: {error.strerror}") from None
    try:
        yield target
        target.chmod(0o755)
        if folder.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
            folder.replace(old / "old")
            try:
                target.replace(folder)
            except BaseException:
                (old / "old").replace(folder)
                old.rmdir()
                raise
            shutil.rmtree(old)
        else:
            target.replace(folder)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


@contextmanager
def held(file: Path, busy: str) -> Iterator[None]:
    """Lock an existing file, or raise a UserError that says `busy`; the lock ends with the block or the process."""
    with file.open("rb") as opened:
        try:
            if fcntl is not None:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(busy) from None
        except OSError:
            pass  # a file system without locks
        yield
