"""The command line. Exit codes: 0 done, 1 a claim contradicted under --strict (or none decided),
2 bad input, 3 no run succeeded, 130 interrupted."""

import os
import sys
from typing import Any

import tyro
from tyro.conf import FlagCreatePairsOff

from attnlab import __version__
from attnlab.commands import running, showing
from attnlab.commands.common import NoRunSucceeded
from attnlab.core import BadInput

COMMANDS: dict[str, Any] = {
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
    "diff": showing.Diff,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _json_to_output(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"attnlab {__version__}")
        return 0
    try:
        if arguments[:1] == ["bounds"] and arguments[1:2] and not arguments[1].startswith("-"):
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
    except BadInput as error:
        print(f"attnlab: {error}", file=sys.stderr)
        return 2
    except NoRunSucceeded as error:
        print(f"attnlab: {error}", file=sys.stderr)
        return 3
    except BrokenPipeError:
        # Whoever read the output has had enough of it; Python's own flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


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
