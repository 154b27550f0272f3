"""The command line. Exit codes: 0 done, 1 a claim contradicted under --strict (or none decided),
2 bad input, 3 no run succeeded, 130 interrupted."""

import os
import sys
from typing import TextIO

import tyro
from tyro.conf import FlagCreatePairsOff

from attnlab import __version__
from attnlab.commands import citing, image_data, merging, running, showing, sweeping
from attnlab.commands.common import NoRunSucceeded
from attnlab.core import BadInput

COMMANDS: dict[str, type] = {
    "list": showing.List,
    "show": showing.Show,
    "hypotheses": showing.Hypotheses,
    "check": running.Check,
    "run": running.Run,
    "reproduce": running.Reproduce,
    "multiverse": running.Multiverse,
    "bounds": showing.Bounds,
    "report": showing.Report,
    "ledger": showing.ShowLedger,
    "profile": showing.Profile,
    "diff": showing.Diff,
    "merge": merging.Merge,
    "cite": citing.Cite,
    "train": sweeping.Train,
    "sweep": sweeping.Sweep,
    "export": sweeping.Export,
    "data": image_data.Data,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _json_to_output(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"attnlab {__version__}")
        return 0
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a reader that has gone away is no error
        return code
    except BadInput as error:
        _complain(str(error))
        return 2
    except NoRunSucceeded as error:
        _complain(str(error))
        return 3
    except BrokenPipeError:
        _drop(sys.stdout)  # whoever read it has had enough of it
        return 0
    except OSError as error:
        # The disk, the name of a file, a right to it: the machine's answer, in its own words.
        if error.filename is None:  # standard output itself, e.g. on a full disk
            _drop(sys.stdout)
        where = f" {_short(str(error.filename))}" if error.filename else " a file"
        _complain(
            f"cannot use{where}: {error.strerror or error}; check the name, the rights "
            "and the free space, or give another place"
        )
        return 2


def _run(arguments: list[str]) -> int:
    for word in arguments:
        if "\0" in word:
            raise BadInput(f"{_short(word)!r} holds a NUL byte, which no name has; leave it out")
    if arguments[:1] == ["bounds"] and arguments[1:2] not in ([], ["-h"], ["--help"]):
        return showing.Bounds.parse_and_run(arguments[1:])
    command = tyro.extras.subcommand_cli_from_dict(
        COMMANDS,
        prog="attnlab",
        description="A laboratory for the theory of attention training. "
        "`attnlab --version` prints the version.",
        args=arguments or ["--help"],
        config=(FlagCreatePairsOff,),
    )
    return command.run()


def _complain(sentence: str) -> None:
    """Print why the command ends; if even that has no room, its exit code must do."""
    try:
        print(f"attnlab: {sentence}", file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)


def _drop(output: TextIO) -> None:
    """Let Python's own flush at the end have nothing to complain of."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())


def _short(word: str) -> str:
    return word if len(word) <= 60 else f"{word[:57]}..."


def entry() -> None:
    """The console script."""
    sys.exit(main())


def _json_to_output(arguments: list[str]) -> list[str]:
    """`--json` without a name stands for `--json -`."""
    following = [*arguments, "--"][1:]
    words = []
    for word, after in zip(arguments, following, strict=True):
        alone = word == "--json" and after.startswith("--")
        words += [word, "-"] if alone else [word]
    return words


if __name__ == "__main__":
    entry()
