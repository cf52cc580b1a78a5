"""``transformers serve`` where torchvision is absent: its processor class without the video part."""

from __future__ import annotations

import sys

import transformers
from transformers.cli.transformers import main
from transformers.models import qwen3_vl
from transformers.models.qwen3_vl import processing_qwen3_vl
from transformers.utils import is_torchvision_available

from driveproof.policy.tiny import image_only_class

if __name__ == "__main__":
    if not is_torchvision_available():
        for module in (transformers, qwen3_vl, processing_qwen3_vl):
            module.Qwen3VLProcessor = image_only_class("Qwen3VLProcessor")  # type: ignore[attr-defined]
    sys.argv[0] = "transformers"
    main()
