"""The program of docs/images.md runs as it is printed, on a small folder and for a few steps."""

import re
from pathlib import Path

import numpy as np
from PIL import Image

PAGE = Path(__file__).parent.parent.parent / "docs" / "images.md"


def test_the_page_prunes_a_folder(tmp_path, monkeypatch, capsys):
    random = np.random.default_rng(0)
    for name in ("dark", "light"):
        (tmp_path / "my_pictures" / name).mkdir(parents=True)
        for k in range(6):
            pixels = random.integers(0, 100, (40, 48, 3)) + 150 * (name == "light")
            Image.fromarray(pixels.astype(np.uint8)).save(
                tmp_path / "my_pictures" / name / f"{k}.png"
            )
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    monkeypatch.chdir(tmp_path)
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 15
    exec(code.replace("steps=400", "steps=12"), {})
    first, saved, second = capsys.readouterr().out.splitlines()
    for line, tokens in ((first, 64), (second, 32)):
        found = re.fullmatch(
            rf"{tokens} tokens: accuracy ([0-9.]+), loss .* on 6 samples of {tokens} tokens, .* s",
            line,
        )
        assert found, line
        assert float(found[1]) > 0.7  # of the half that was not trained on
    assert saved.startswith("tokens 50% fewer")
