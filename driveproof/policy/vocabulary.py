"""The tokenizer of the tiny model: one token a word, a whole number, an option letter or a fixed phrase.

A model of a few million parameters cannot afford to spell. Every piece of the training texts becomes one
token, whole numbers of a given range always do, and anything else falls back to bytes, so that every text
round-trips. Nothing is fitted statistically: the vocabulary is a function of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driveproof.geometry.arrays import Float, Int

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

END_OF_TEXT, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
IMAGE_SPECIALS = {
    "qwen3_vl": (
        "<|vision_start|>",
        "<|vision_end|>",
        "<|vision_pad|>",
        "<|image_pad|>",
        "<|video_pad|>",
    ),
    "qwen2_5_vl": (
        "<|vision_start|>",
        "<|vision_end|>",
        "<|vision_pad|>",
        "<|image_pad|>",
        "<|video_pad|>",
    ),
    "gemma3": ("<start_of_image>", "<end_of_image>", "<image_soft_token>"),
}
_IMAGE_TEXT = {
    "qwen3_vl": "<|vision_start|><|image_pad|><|vision_end|>",
    "qwen2_5_vl": "<|vision_start|><|image_pad|><|vision_end|>",
    "gemma3": "<start_of_image>",
}
_PIECES = r"[ ,]?-?\d+| ?[A-Za-z_]+|\s|."
_NUMBER = re.compile(r"[ ,]?(-?\d+)")

# ChatML; ``generation`` marks the assistant's tokens, as TRL's assistant_only_loss expects.
_TEMPLATE = """{%- for m in messages -%}
<|im_start|>{{ m['role'] }}
{% if m['role'] == 'assistant' -%}{% generation %}{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>{% endgeneration %}
{% else -%}
{%- if m['content'] is string -%}{{ m['content'] }}{%- else -%}{%- for c in m['content'] -%}
{%- if c['type'] == 'image' or 'image' in c -%}IMAGE{%- elif c['type'] == 'text' -%}{{ c['text'] }}{%- endif -%}{%- endfor -%}{%- endif -%}<|im_end|>
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}"""


def chat_template(family: str) -> str:
    """The chat template (Jinja) of a model family: ChatML with that family's picture marks."""
    return _TEMPLATE.replace("IMAGE", _IMAGE_TEXT[family])


def build_tokenizer(
    corpus: Iterable[str],
    *,
    phrases: Sequence[str] = (),
    numbers: tuple[int, int] = (-99, 299),
    family: str = "qwen3_vl",
) -> PreTrainedTokenizerFast:
    """A fast tokenizer whose vocabulary is the pieces of ``corpus``.

    Parameters
    ----------
    corpus
        Texts whose words become single tokens.
    phrases
        Fixed texts that become single tokens wherever they occur, longest first.
    numbers
        First and last whole number that are single tokens, bare and after a space or a comma.
    family
        Whose special tokens and chat template: a key of ``IMAGE_SPECIALS``.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast as Fast

    make: Any = Fast
    fixed = sorted({phrase for phrase in phrases if phrase}, key=lambda p: (-len(p), p))
    pattern = "|".join([*map(re.escape, fixed), _PIECES])
    spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    splitter = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), spelled])
    specials = [END_OF_TEXT, TURN_START, TURN_END, *IMAGE_SPECIALS[family]]
    spans = [f"{before}{n}" for n in range(numbers[0], numbers[1] + 1) for before in ("", " ", ",")]
    texts = [*corpus, *fixed]
    # a word is known with and without the space before it, wherever the texts happen to have it
    words = sorted({word for text in texts for word in re.findall(r"[A-Za-z_]+", text)})
    spans += [f"{before}{word}" for word in words for before in ("", " ")]
    pieces = {piece for text in texts for piece, _ in splitter.pre_tokenize_str(text)}
    known = [spelled.pre_tokenize_str(span)[0][0] for span in spans]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary: dict[str, int] = {}
    for piece in (*specials, *alphabet, *known, *sorted(pieces)):
        vocabulary.setdefault(piece, len(vocabulary))
    # A piece that is in the vocabulary is one token whatever the merges say, hence no merges at all.
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[], ignore_merges=True))
    backend.pre_tokenizer = splitter
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(specials)
    tokenizer: PreTrainedTokenizerFast = make(
        tokenizer_object=backend,
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        padding_side="left",
        model_max_length=4096,
    )
    tokenizer.chat_template = chat_template(family)
    return tokenizer


def numbers_of(tokenizer: PreTrainedTokenizerFast) -> tuple[Int, Float]:
    """Ids ``[N]`` of the tokens that are whole numbers, and their values ``[N]``."""
    found: list[tuple[int, float]] = []
    for token, index in sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1]):
        match = _NUMBER.fullmatch(tokenizer.convert_tokens_to_string([token]))
        if match:
            found.append((index, float(match[1])))
    ids, values = zip(*found, strict=True) if found else ((), ())
    return np.asarray(ids, dtype=np.int64), np.asarray(values, dtype=np.float64)


def number_features(values: Float, width: int, rng: np.random.Generator) -> Float:
    """Embeddings ``[N, width]`` of unit root mean square in which numbers that are close look alike.

    Sines and cosines at wavelengths from 4 to 1024, mixed by a random orthogonal matrix: the scalar product
    of two embeddings depends on the difference of the numbers only and falls off with it.
    """
    waves = width // 2
    wavelength = np.geomspace(4.0, 1024.0, waves)
    angle = 2 * np.pi * values[:, None] / wavelength[None, :]
    features = np.concatenate([np.sin(angle), np.cos(angle)], axis=-1) * np.sqrt(2.0)
    mixing, _ = np.linalg.qr(rng.standard_normal((width, 2 * waves)))
    mixed: Float = features @ mixing.T
    return mixed
