"""Makes the embedded pictures: 8x8 digits of scikit-learn, three photographs of scikit-image.

    pip install scikit-learn scikit-image && python tools/embed_images.py

Photographs are halved to 256x256 by averaging 2x2 pixels. Prints the sums that
`attnlab.data.image_sources` holds: a changed file is another data set, and gets other records.
"""

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
from skimage import data
from sklearn.datasets import load_digits

FOLDER = Path(__file__).parent.parent / "src" / "attnlab" / "data" / "embedded"
TEXTURES = ("grass", "gravel", "brick")


def save(name: str, **arrays: np.ndarray) -> None:
    """Write a compressed archive whose bytes depend on the arrays alone, and print its sum."""
    path = FOLDER / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for key, array in arrays.items():
            held = io.BytesIO()
            np.lib.format.write_array(held, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{key}.npy"), held.getvalue(), zipfile.ZIP_DEFLATED)
    print(f'"{name}": "{hashlib.sha256(path.read_bytes()).hexdigest()}",')


def halved(photograph: np.ndarray) -> np.ndarray:
    """Half the size, by averages of 2x2 pixels."""
    rows, columns = (size // 2 for size in photograph.shape)
    blocks = photograph[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2)
    return np.round(blocks.mean((1, 3))).astype(np.uint8)


def main() -> None:
    """Write both files."""
    digits = load_digits()
    pixels = np.round(digits.images * 255 / 16).astype(np.uint8)
    save("digits.npz", images=pixels[..., None], labels=digits.target.astype(np.uint8))
    photographs = np.stack([halved(getattr(data, name)()) for name in TEXTURES])
    save("textures.npz", photographs=photographs[..., None])


if __name__ == "__main__":
    main()
