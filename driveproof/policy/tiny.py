"""Vision-language models of about two million parameters, built from scratch with transformers' real classes.

The folder that :func:`build_tiny_vlm` writes is an ordinary checkpoint: safetensors weights, configuration,
tokenizer, processor. It loads offline through ``AutoModelForImageTextToText``, trains with any trainer and is
served by any server that knows the architecture.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.errors import BadInput
from driveproof.files import atomic_dir, write_json
from driveproof.policy.families import limit_pixels
from driveproof.policy.vocabulary import (
    IMAGE_SPECIALS,
    build_tokenizer,
    chat_template,
    number_features,
    numbers_of,
)

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast, ProcessorMixin

FAMILIES = tuple(IMAGE_SPECIALS)
PATCH, MERGE = 8, 4
"""Pixels a patch and patches a token, each way. A distant light is five pixels wide: in a patch of 16, as the
large models have it, it would be lost among what surrounds it; a token still covers 32 x 32 pixels."""
ALIKE = 0.9
"""Correlation of the initial keys with the queries in heads that start by seeking equals."""
INITIAL_STD = 0.02
"""Standard deviation of transformers' initial weights, which number embeddings keep."""


def build_tiny_vlm(
    out_dir: str | Path,
    corpus: Iterable[str],
    *,
    hidden: int = 192,
    layers: int = 4,
    heads: int = 4,
    vision_hidden: int = 96,
    vision_layers: int = 2,
    seed: int = 0,
    family: str = "qwen3_vl",
    phrases: Sequence[str] = (),
    numbers: tuple[int, int] = (-99, 299),
    max_tokens_per_image: int = 64,
) -> int:
    """Write an untrained model to ``out_dir`` and return its number of parameters.

    Parameters
    ----------
    corpus
        Texts of the kind that the model will read and write; see :func:`build_tokenizer`.
    hidden, layers, heads
        Width, depth and attention heads of the language model.
    vision_hidden, vision_layers
        Width and depth of the vision encoder (a token covers 32 x 32 pixels).
    seed
        Of the weights; the same arguments give the same bytes.
    family
        "qwen3_vl", "qwen2_5_vl" or "gemma3".
    phrases, numbers
        See :func:`build_tokenizer`.
    max_tokens_per_image
        Larger pictures are shrunk to so many tokens (Qwen; Gemma3 has a fixed 16).
    """
    import torch

    if family not in FAMILIES:
        raise BadInput(f"no such model family: {family}", hint="one of " + ", ".join(FAMILIES))
    if hidden % heads or (hidden // heads) % 4:
        raise BadInput(f"hidden {hidden} must be a multiple of 4 x heads ({heads})")
    tokenizer = build_tokenizer(corpus, phrases=phrases, numbers=numbers, family=family)
    text = _text_config(tokenizer, hidden, layers, heads)
    vision = {
        "hidden_size": vision_hidden,
        "intermediate_size": 2 * vision_hidden,
        "patch_size": PATCH,
    }
    with atomic_dir(out_dir) as folder, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        builders = {"qwen3_vl": _qwen3_vl, "qwen2_5_vl": _qwen2_5_vl, "gemma3": _gemma3}
        model = builders[family](
            folder, tokenizer, text, vision, vision_layers, max_tokens_per_image
        )
        _order_numbers(model, tokenizer, seed)
        _seek_equals(model)
        model.generation_config.eos_token_id = tokenizer.eos_token_id
        model.generation_config.pad_token_id = tokenizer.pad_token_id
        model.save_pretrained(folder)
        return int(sum(p.numel() for p in model.parameters()))


def _text_config(
    tokenizer: PreTrainedTokenizerFast, hidden: int, layers: int, heads: int
) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": hidden,
        "intermediate_size": 3 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": heads,
        "head_dim": hidden // heads,
        "max_position_embeddings": 4096,
        "bos_token_id": None,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": True,
    }


def _order_numbers(model: Any, tokenizer: PreTrainedTokenizerFast, seed: int) -> None:
    """Start the embeddings of whole numbers so that close numbers are close: order need not be learned."""
    import torch

    ids, values = numbers_of(tokenizer)
    table = model.get_input_embeddings().weight
    rng = np.random.default_rng([seed, 1])
    features = number_features(values, table.shape[1], rng) * INITIAL_STD
    with torch.no_grad():
        # a rest of the random start keeps "12", " 12" and ",12" apart
        table[torch.from_numpy(ids)] *= 0.3
        table[torch.from_numpy(ids)] += torch.from_numpy(features).to(table.dtype)


def _seek_equals(model: Any) -> None:
    """Start half of the attention heads of each text layer so that a token attends to tokens like itself.

    Keys that resemble the queries ("mimetic" initial weights, Trockman and Kolter, 2023) save the model the
    long wait until it finds out that comparing and copying are done by looking for what is equal.
    """
    import torch

    with torch.no_grad():
        for name, module in model.named_modules():
            if "language_model" in name and name.endswith("self_attn"):
                query, key = module.q_proj.weight, module.k_proj.weight
                half = len(query) // 2
                key[:half] = ALIKE * query[:half] + (1 - ALIKE**2) ** 0.5 * key[:half]


def _qwen3_vl(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    text: dict[str, Any],
    vision: dict[str, Any],
    vision_layers: int,
    max_tokens: int,
) -> PreTrainedModel:
    import transformers

    rope = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": _qwen_sections(text),
        "mrope_interleaved": True,
    }
    config = transformers.Qwen3VLConfig(
        text_config={**text, "rope_parameters": rope},
        vision_config={
            **_qwen_vision(text, vision, vision_layers),
            "num_position_embeddings": 256,
            "deepstack_visual_indexes": [0],
        },
        **_qwen_tokens(tokenizer),
    )
    _save_qwen_processor("Qwen3VLProcessor", folder, tokenizer, max_tokens)
    kind: Any = transformers.Qwen3VLForConditionalGeneration
    model: PreTrainedModel = kind(config)
    return model


def _qwen2_5_vl(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    text: dict[str, Any],
    vision: dict[str, Any],
    vision_layers: int,
    max_tokens: int,
) -> PreTrainedModel:
    import transformers

    rope = {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": _qwen_sections(text),
    }
    config = transformers.Qwen2_5_VLConfig(
        text_config={
            **{name: value for name, value in text.items() if name != "head_dim"},
            "rope_parameters": rope,
        },
        vision_config={
            **_qwen_vision(text, vision, vision_layers),
            "window_size": 2 * PATCH * MERGE,
            "fullatt_block_indexes": [vision_layers - 1],
        },
        **_qwen_tokens(tokenizer),
    )
    _save_qwen_processor("Qwen2_5_VLProcessor", folder, tokenizer, max_tokens)
    kind: Any = transformers.Qwen2_5_VLForConditionalGeneration
    model: PreTrainedModel = kind(config)
    return model


def _qwen_sections(text: Mapping[str, Any]) -> list[int]:
    """How a head's rotary frequencies are shared among time, height and width."""
    third = text["head_dim"] // 6
    return [text["head_dim"] // 2 - 2 * third, third, third]


def _qwen_vision(text: Mapping[str, Any], vision: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """What the vision encoders of the family have in common."""
    return {
        **vision,
        "depth": layers,
        "num_heads": 4,
        "spatial_merge_size": MERGE,
        "temporal_patch_size": 2,
        "out_hidden_size": text["hidden_size"],
    }


def _qwen_tokens(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The special tokens of the family, and that the embeddings serve as the head."""
    names = ("image_pad", "video_pad", "vision_start", "vision_end")
    keys = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    found: Any = tokenizer.convert_tokens_to_ids([f"<|{name}|>" for name in names])
    return {"tie_word_embeddings": True, **dict(zip(keys, found, strict=True))}


def _save_qwen_processor(
    name: str, folder: Path, tokenizer: PreTrainedTokenizerFast, max_tokens: int
) -> None:
    import transformers

    area = (PATCH * MERGE) ** 2
    images = transformers.Qwen2VLImageProcessorPil(
        patch_size=PATCH,
        merge_size=MERGE,
        temporal_patch_size=2,
        size={"shortest_edge": area, "longest_edge": max_tokens * area},
    )
    processor = image_only_class(name)(images, tokenizer, chat_template=tokenizer.chat_template)
    processor.save_pretrained(folder)
    _add_video_processor(folder, name)


def _gemma3(
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    text: dict[str, Any],
    vision: dict[str, Any],
    vision_layers: int,
    max_tokens: int,
) -> PreTrainedModel:
    import transformers

    tokens, edge = 16, 4 * PATCH * MERGE
    token: Any = tokenizer.convert_tokens_to_ids
    names = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    tokenizer.init_kwargs.update(names)
    for name, value in names.items():
        setattr(tokenizer, name, value)
        setattr(tokenizer, f"{name}_id", token(value))
    config = transformers.Gemma3Config(
        text_config={**text, "sliding_window": 1024, "query_pre_attn_scalar": text["head_dim"]},
        vision_config={
            **vision,
            "num_hidden_layers": vision_layers,
            "num_attention_heads": 4,
            "image_size": edge,
        },
        mm_tokens_per_image=tokens,
        boi_token_index=token("<start_of_image>"),
        eoi_token_index=token("<end_of_image>"),
        image_token_index=token("<image_soft_token>"),
        tie_word_embeddings=True,
    )
    images = transformers.Gemma3ImageProcessorPil(size={"height": edge, "width": edge})
    processor = transformers.Gemma3Processor(
        images, tokenizer, chat_template=chat_template("gemma3"), image_seq_length=tokens
    )
    processor.save_pretrained(folder)
    kind: Any = transformers.Gemma3ForConditionalGeneration
    model: PreTrainedModel = kind(config)
    for name, parameter in model.named_parameters():
        if "mm_input_projection_weight" in name:
            # zero in transformers, which waits for trained weights: pictures would have no effect
            parameter.data.normal_(std=vision["hidden_size"] ** -0.5)
    return model


def load_processor(path: str | Path, max_pixels: int = 0) -> ProcessorMixin:
    """The processor of a model folder, with or without torchvision; pictures of more than ``max_pixels`` (0: no limit) shrink.

    The stock processors of the Qwen VL and InternVL families ask for torchvision because of videos; where that is
    missing, a class of the same name without the video part reads the same files.
    """
    import transformers
    from transformers.utils.import_utils import is_torchvision_available

    try:
        kind = _processor_class(Path(path))
        if kind in VIDEO_PROCESSORS and not is_torchvision_available():
            processor: ProcessorMixin = image_only_class(kind).from_pretrained(str(path))
        else:
            stock: Any = transformers.AutoProcessor
            processor = stock.from_pretrained(str(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(f"no processor can be loaded: {problem}", path=path) from None
    if max_pixels:
        limit_pixels(processor, max_pixels)
    return processor


VIDEO_PROCESSORS = {
    "Qwen3VLProcessor": "Qwen3VLVideoProcessor",
    "Qwen2_5_VLProcessor": "Qwen2VLVideoProcessor",
    "InternVLProcessor": "InternVLVideoProcessor",
}
"""Processors that ask for torchvision because of videos, and the class of that part."""


def _processor_class(folder: Path) -> str:
    """What the folder names, in the file of today or in that of older releases."""
    files = [folder / "processor_config.json", folder / "preprocessor_config.json"]
    for path in files:
        if path.is_file():
            name = json.loads(path.read_text(encoding="utf-8")).get("processor_class")
            if name:
                return str(name)
    if not files[0].is_file() and not files[1].is_file():
        raise OSError("neither processor_config.json nor preprocessor_config.json is there")
    return ""


def image_only_class(name: str) -> Any:
    """The processor ``name`` of ``VIDEO_PROCESSORS`` without its video part.

    The name stays, so that saved files name the stock class.
    """
    from transformers.models.internvl import processing_internvl
    from transformers.models.qwen2_5_vl import processing_qwen2_5_vl
    from transformers.models.qwen3_vl import processing_qwen3_vl

    modules = (processing_qwen3_vl, processing_qwen2_5_vl, processing_internvl)
    parent: Any = next(getattr(module, name) for module in modules if hasattr(module, name))

    def start(
        self: Any,
        image_processor: Any = None,
        tokenizer: Any = None,
        chat_template: str | None = None,
        image_seq_length: int | None = None,
        **_: Any,
    ) -> None:
        length = {} if image_seq_length is None else {"image_seq_length": image_seq_length}
        parent.__init__(self, image_processor, tokenizer, chat_template=chat_template, **length)
        self.video_processor = None

    return type(name, (parent,), {"__init__": start, "__module__": __name__})


def _add_video_processor(folder: Path, name: str) -> None:
    """Name a video processor with the settings of the pictures, which the stock class insists on."""
    path = folder / "processor_config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    shared = {
        "image_mean", "image_std", "patch_size", "temporal_patch_size", "merge_size", "size",
        "do_convert_rgb", "do_normalize", "do_rescale", "do_resize", "resample", "rescale_factor",
    }  # fmt: skip
    video = {key: value for key, value in content["image_processor"].items() if key in shared}
    content["video_processor"] = {**video, "video_processor_type": VIDEO_PROCESSORS[name]}
    write_json(path, content)
