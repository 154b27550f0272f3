"""Makes the embedded initial models of the deep vision transformer. One to two minutes each.

    python -m tools.pretrain_images            # all of them
    python -m tools.pretrain_images weak_1     # one

CIFAR-100, on which the paper's initial model was trained, cannot be had from a package registry. It
is replaced by letters: 40 letters of the DejaVu fonts, turned, sheared and shifted, and made as
coarse as the digits (8x8 pixels).

| name | letters | images | background |
|---|---|---|---|
| better_K | 40 | 10,000 | zero padding |
| weak_K | 8 | 800 | zero padding: of few classes and images, as the paper's second model |
| textured_K | 40 | 10,000 | the photographs' training rows |

Prints the sums that `attnlab.papers.li2023.runs.images_initial` holds.
"""

import hashlib
import os
import sys
from pathlib import Path

os.environ |= {
    "NPROC": "1",
    "JAX_ENABLE_X64": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from attnlab.data import image_sources
from attnlab.data.images import Images
from attnlab.models.checkpoints import save_weights
from attnlab.models.deep_vit_model import DeepViT
from attnlab.papers.li2023.runs.images_initial import pretrained
from attnlab.papers.li2023.settings.images import Pretraining

FOLDER = Path(__file__).parent.parent / "src" / "attnlab" / "data" / "embedded"
LETTERS = "ABCDEFGHJKLMNPQRTUVWXYZabdefghijkmnqrtyp"
KINDS = {"better": (40, 250, False), "weak": (8, 100, False), "textured": (40, 250, True)}
COPIES = 3
STEPS, BATCH, RATE = 2500, 32, 3e-3
FONTS = ("Sans", "Sans-Bold", "Sans-Oblique", "SansMono", "SansMono-Bold", "Serif", "Serif-Bold",
         "Serif-Italic")  # fmt: skip


def fonts() -> list[ImageFont.FreeTypeFont]:
    """DejaVu, as matplotlib ships it."""
    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return [ImageFont.truetype(str(folder / f"DejaVu{name}.ttf"), 52) for name in FONTS]


def glyph(letter: str, font: ImageFont.FreeTypeFont, random: np.random.Generator) -> np.ndarray:
    """One letter of 8x8 pixels, turned, sheared, scaled and shifted."""
    sheet = Image.new("L", (96, 96), 0)
    draw = ImageDraw.Draw(sheet)
    draw.text(
        (48, 48), letter, 255, font=font, anchor="mm", stroke_width=int(random.integers(0, 4))
    )
    angle, shear = np.radians(random.uniform(-18, 18)), random.uniform(-0.25, 0.25)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    A = turn @ np.array([[1, shear], [0, 1]]) * random.uniform(0.85, 1.2)
    shift = np.array([48, 48]) - A @ (np.array([48, 48]) + random.uniform(-4, 4, 2))
    numbers = (A[0, 0], A[0, 1], shift[0], A[1, 0], A[1, 1], shift[1])
    moved = sheet.transform(sheet.size, Image.Transform.AFFINE, numbers, Image.Resampling.BILINEAR)
    box = moved.getbbox() or (0, 0, 96, 96)
    tall = moved.crop((16, box[1], 80, max(box[3], box[1] + 8)))  # as high as the digits are
    small = np.asarray(tall.resize((8, 8), Image.Resampling.BOX), float)
    return np.round(255 * small / max(small.max(), 1.0)).astype(np.uint8)


def letters(classes: int, each: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """So many images of each of the first letters, chosen anew for each seed."""
    random = np.random.default_rng(seed)
    chosen = random.permutation(list(LETTERS))[:classes]
    faces = fonts()
    images = [
        glyph(x, faces[random.integers(len(faces))], random) for x in chosen for _ in range(each)
    ]
    return np.stack(images)[..., None], np.repeat(np.arange(classes), each)


def trained(name: str) -> None:
    """Train one initial model and write it."""
    kind, _, copy = name.rpartition("_")
    classes, each, textured = KINDS[kind]
    images, labels = letters(classes, each, 1000 * list(KINDS).index(kind) + int(copy))
    photographs = image_sources.rows_of(image_sources.embedded("textures.npz")["photographs"], True)
    source = Images(
        objects=jnp.asarray(image_sources.resized(images, 26)),
        classes=jnp.asarray(labels),
        photographs=jnp.asarray(photographs),
        photo_share=jnp.full(classes, float(textured)),
    )
    model = DeepViT(outputs=classes)
    how = Pretraining(each, STEPS, BATCH, RATE)
    path, engine = pretrained(source, len(images), model, jax.random.key(int(copy)), how)
    file = FOLDER / f"initial_{name}.safetensors"
    weights = path.state._replace(
        C=jnp.zeros((32, 1)), c=jnp.zeros(1)
    )  # the new output layer's place
    save_weights(file, weights, half=True)
    loss, hits = float(path.values["loss"][-1]), float(engine.accuracy(path.state))
    print(f"# {name}: training loss {loss:.3f}, accuracy {hits:.3f}", file=sys.stderr)
    print(f'"{name}": "{hashlib.sha256(file.read_bytes()).hexdigest()}",', flush=True)


def main() -> None:
    """Make the named models, or all."""
    every = [f"{kind}_{copy}" for copy in range(COPIES) for kind in KINDS]
    for name in sys.argv[1:] or every:
        trained(name)


if __name__ == "__main__":
    main()
