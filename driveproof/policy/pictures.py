"""Pictures of requests as pixels or data URLs, with the last few kept: repeats ask for the same ones."""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from pathlib import Path
from threading import Lock

import cv2
import numpy as np

from driveproof.errors import BadInput
from driveproof.scene import ImageRef, ImageStore
from driveproof.scene.images import Pixels

_MIME = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG": "image/png"}


class Pictures:
    """Loads what requests refer to; safe to use from several threads.

    Parameters
    ----------
    root
        Directory that relative paths of references start from.
    keep
        How many encoded pictures are kept in memory.
    """

    def __init__(self, root: str | Path = ".", keep: int = 256) -> None:
        self._store = ImageStore(root)
        self._keep = keep
        self._encoded: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def pixels(self, image: ImageRef | Pixels) -> Pixels:
        """``[H, W, 3]`` RGB; :class:`BadInput` if the picture is missing or broken."""
        if not isinstance(image, ImageRef):
            return _checked(image)
        decoded = cv2.imdecode(np.frombuffer(self.encoded(image), np.uint8), cv2.IMREAD_COLOR)
        if decoded is None:
            raise BadInput("not a picture", path=image.path, field=image.member)
        return np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)

    def encoded(self, image: ImageRef | Pixels) -> bytes:
        """The picture as stored, or as PNG where only pixels are given."""
        if not isinstance(image, ImageRef):
            _, png = cv2.imencode(".png", cv2.cvtColor(_checked(image), cv2.COLOR_RGB2BGR))
            return png.tobytes()
        key = str(image)
        with self._lock:
            if key in self._encoded:
                self._encoded.move_to_end(key)
                return self._encoded[key]
            data = self._store.read_bytes(image)
            if not data:
                raise BadInput("empty picture", path=image.path, field=image.member)
            self._encoded[key] = data
            if len(self._encoded) > self._keep:
                self._encoded.popitem(last=False)
            return data

    def data_url(self, image: ImageRef | Pixels) -> str:
        """The picture as a ``data:`` URL; formats other than JPEG and PNG become PNG."""
        data = self.encoded(image)
        mime = next((mime for magic, mime in _MIME.items() if data.startswith(magic)), None)
        if mime is None:
            data, mime = self.encoded(self.pixels(image)), "image/png"
        return f"data:{mime};base64,{base64.b64encode(data).decode()}"

    def digest(self, image: ImageRef | Pixels) -> str:
        """sha256 of the encoded picture."""
        return hashlib.sha256(self.encoded(image)).hexdigest()


def _checked(image: Pixels) -> Pixels:
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[-1] != 3 or 0 in image.shape:
        raise BadInput(f"picture: expected uint8 [H, W, 3], got {image.dtype} {image.shape}")
    return image
