"""Pictures: equal pixels by every way, nothing outside the allowed folder, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from driveproof.policy.pictures import Pictures
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire.codec import Refused
from driveproof.policy.wire.pictures import SHARED, Receiver, Sender
from driveproof.scene import ImageRef

needs_shm = pytest.mark.skipif(
    not SHARED.is_dir(), reason="shared memory has no names as files here"
)


@pytest.mark.parametrize("carrier", ["bytes", "file", pytest.param("shared", marks=needs_shm)])
def test_pixels_are_equal_by_every_way(tmp_path: Path, picture: Any, carrier: Any) -> None:
    images = [picture(n, 40 + n, 50) for n in range(3)]
    cv2.imwrite(str(tmp_path / "a.png"), cv2.cvtColor(images[0], cv2.COLOR_RGB2BGR))
    cv2.imwrite(str(tmp_path / "b.jpg"), images[1])
    references = [ImageRef("a.png"), ImageRef("b.jpg")]
    sender = Sender(Pictures(tmp_path), carrier)
    sent = sender.send([*images, *references])
    receiver = Receiver(tmp_path)
    got = [receiver.pixels(one) for one in sent]
    sender.release()
    sender.close()
    jpeg = cv2.cvtColor(cv2.imread(str(tmp_path / "b.jpg")), cv2.COLOR_BGR2RGB)
    for mine, expected in zip(got, [*images, images[0], jpeg], strict=True):
        assert np.array_equal(mine, expected)
    kinds = {one.kind for one in sent}
    assert kinds == {"bytes": {"encoded"}, "file": {"encoded", "file"}, "shared": {"encoded", "shared"}}[carrier]  # fmt: skip


def test_paths_stay_below_the_allowed_folder(tmp_path: Path, picture: Any) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside.png"
    allowed.mkdir()
    cv2.imwrite(str(outside), picture(0))
    (allowed / "link.png").symlink_to(outside)
    (allowed / "folder").mkdir()
    os.mkfifo(allowed / "pipe")
    receiver = Receiver(allowed)
    for path, status in {
        "../outside.png": 403,
        str(outside): 403,
        "link.png": 403,
        "/etc/passwd": 403,
        "a/../../outside.png": 403,
        "nowhere.png": 422,
        "folder": 422,
        "pipe": 422,
        "a\x00b": 422,
        "x" * 4000: 422,
    }.items():
        with pytest.raises(Refused) as caught:
            receiver.pixels(wire.FilePicture(path=path))
        assert (path, caught.value.status) == (path, status)
    cv2.imwrite(str(allowed / "in.png"), picture(1))
    assert np.array_equal(
        receiver.pixels(wire.FilePicture(path=str(allowed / "in.png")))[..., ::-1], picture(1)
    )
    with pytest.raises(Refused, match="takes no paths"):
        Receiver().pixels(wire.FilePicture(path="in.png"))


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG", b"not a picture", b"\xff\xd8\xff\xe0" + b"\0" * 99]
)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(Refused, match="not a picture"):
        Receiver().pixels(wire.Encoded(data=data))


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    small = cv2.imencode(".png", np.zeros((1, 1, 3), np.uint8))[1].tobytes()
    header = small[:16] + (60_000).to_bytes(4, "big") * 2 + small[24:29]
    import zlib

    header += zlib.crc32(header[12:29]).to_bytes(4, "big")
    with pytest.raises(Refused, match="more than") as caught:
        Receiver().pixels(wire.Encoded(data=header + small[33:]))
    assert caught.value.status == 413


@needs_shm
def test_shared_memory_is_checked(picture: Any) -> None:
    sender = Sender(carrier="shared")
    (sent,) = sender.send([picture(0)])
    assert isinstance(sent, wire.SharedPicture)
    receiver = Receiver()
    beyond = sent.model_copy(update={"offset": 10**6})
    gone = sent.model_copy(update={"name": f"driveproof-wire-1-{'0' * 32}"})
    traversal = sent.model_copy(update={"name": "../../etc/passwd"})
    large = sent.model_copy(update={"height": 65_536, "width": 65_536})
    for wrong, status in ((beyond, 422), (gone, 422), (traversal, 422), (large, 413)):
        with pytest.raises(Refused) as caught:
            receiver.pixels(wrong)
        assert caught.value.status == status
    with pytest.raises(ValueError, match="name"):
        wire.SharedPicture(name="../../etc/passwd", offset=0, height=1, width=1)
    path = SHARED / sent.name
    assert path.stat().st_mode & 0o777 == 0o600
    sender.close()
    assert not path.exists()


@needs_shm
def test_memory_is_used_again_and_that_of_the_dead_is_removed(picture: Any) -> None:
    code = (
        "import os, numpy as np\n"
        "from driveproof.policy.wire.pictures import Sender\n"
        "sender = Sender(carrier='shared')\n"
        "print(sender.send([np.zeros((2, 2, 3), np.uint8)])[0].name, flush=True)\n"
        "os._exit(9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    name = done.stdout.strip()
    assert (SHARED / name).exists()
    sender = Sender(carrier="shared")
    for number in range(5):
        (sent,) = sender.send([picture(number)])
        assert isinstance(sent, wire.SharedPicture)
        assert sent.offset == 0
        assert np.array_equal(Receiver().pixels(sent), picture(number))
        sender.release()
    assert not (SHARED / name).exists()
    assert (SHARED / sent.name).stat().st_size == picture(0).nbytes
    sender.close()
