"""What crosses the wire between the driving side and the policy side, version 1.

Every message is closed: a field that is not named here is refused, on both sides, so that nothing can be added to a
request by accident. What the driving side sends about the world is in :class:`Observation` and in the texts and pictures
of a :class:`Chat`; there is no place for other actors, positions, the map or reference answers.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

VERSIONS = (1,)
"""Versions of the wire that this program speaks."""
VERSION_HEADER = "Driveproof-Wire"
"""Of a request, the version it is written in; without it the first."""
IDENTITY_HEADER = "Driveproof-Identity"
"""Of an answer, the sha256 of what the server serves: a server that was started anew with another model is noticed."""

MAX_TEXT = 1_000_000
MAX_IMAGES = 512
MAX_BATCH = 256
MAX_PIXELS = 64_000_000
"""Of a picture."""
MAX_CALL_PIXELS = 256_000_000
"""Of all pictures of a call together."""

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT)]
Camera = Annotated[str, StringConstraints(pattern=r"^CAM_[A-Z_]{1,32}$")]
Episode = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.+-]{1,200}$")]
SessionId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Count = Annotated[int, Field(ge=0, lt=2**53)]
Seconds = Annotated[float, Field(ge=0.0, le=1e9)]
Side = Annotated[int, Field(ge=1, le=65_536)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Closed(BaseModel):
    """A message: no other fields, no other types, no NaN; bytes are base64 in JSON."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )


class Encoded(Closed):
    """A picture as the bytes of a file: PNG, JPEG, WebP or BMP."""

    kind: Literal["encoded"] = "encoded"
    data: bytes


class FilePicture(Closed):
    """A picture as a path below a folder that the server allows."""

    kind: Literal["file"] = "file"
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)]


class SharedPicture(Closed):
    """RGB pixels ``[height, width, 3]`` at an offset of a shared memory of this machine."""

    kind: Literal["shared"] = "shared"
    name: Annotated[str, StringConstraints(pattern=r"^driveproof-wire-[0-9]{1,10}-[0-9a-f]{32}$")]
    offset: Count
    height: Side
    width: Side


WirePicture = Annotated[Encoded | FilePicture | SharedPicture, Field(discriminator="kind")]


class TextPart(Closed):
    """Words of a message."""

    type: Literal["text"] = "text"
    text: Text


class ImagePart(Closed):
    """The place of the next picture."""

    type: Literal["image"] = "image"


class Turn(Closed):
    """A message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: Annotated[
        list[Annotated[TextPart | ImagePart, Field(discriminator="type")]],
        Field(max_length=4 * MAX_IMAGES),
    ]


class Chat(Closed):
    """A :class:`driveproof.policy.ChatRequest`.

    Of its ``session`` only a hash travels: which requests begin alike, not what they are called.
    """

    messages: Annotated[list[Turn], Field(max_length=1024)]
    images: Annotated[list[WirePicture], Field(max_length=MAX_IMAGES)] = []
    max_tokens: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    temperature: Annotated[float, Field(ge=0.0, le=100.0)] = 0.0
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    answer_schema: dict[str, JsonValue] | None = None
    session: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{32})?$")] = ""


class ChatBatch(Closed):
    """Body of ``POST /v1/chat``."""

    requests: Annotated[list[Chat], Field(min_length=1, max_length=MAX_BATCH)]


class Reply(Closed):
    """A :class:`driveproof.policy.ChatReply`."""

    text: Text | None = None
    error: str = ""
    usage: dict[str, Count] = {}
    latency_s: Seconds = 0.0
    cached: bool = False
    outage: bool = False


class ReplyBatch(Closed):
    """Answer of ``POST /v1/chat``: one reply a request, in order."""

    replies: list[Reply]


class Begin(Closed):
    """Body of ``POST /v1/sessions``: an episode begins."""

    episode: Episode
    seed: Annotated[int, Field(ge=0, lt=2**63)]


class Session(Closed):
    """Answer of ``POST /v1/sessions``. Unused for ``idle_s`` seconds, the session ends."""

    session: SessionId
    idle_s: Seconds


class Observation(Closed):
    """A :class:`driveproof.policy.DriveObservation`: all that a policy learns of the world."""

    frame: Count
    time_s: Seconds
    pictures: dict[Camera, Annotated[list[WirePicture], Field(min_length=1, max_length=MAX_IMAGES)]]
    speed: Annotated[float, Field(ge=-1000.0, le=1000.0)]
    command: Literal[
        "unknown", "left", "right", "straight", "follow", "change_left", "change_right"
    ]
    command_distance: Annotated[float, Field(ge=-1e6, le=1e6)] | None


class Decide(Closed):
    """Body of ``POST /v1/sessions/{id}/decide``.

    ``step`` counts the decisions of the session from 0. The last step asked again gets the same answer again, and the
    policy is not asked twice: an answer that was lost on the way can be fetched.
    """

    step: Count
    observation: Observation


class Keys(Closed):
    """The two keys of an action."""

    direction: (
        Literal[
            "FOLLOW_LANE", "CHANGE_LANE_LEFT", "CHANGE_LANE_RIGHT", "GO_STRAIGHT",
            "TURN_LEFT", "TURN_RIGHT", "DEVIATE_LEFT", "DEVIATE_RIGHT",
        ]
        | None
    )  # fmt: skip
    speed: Literal["KEEP", "ACCELERATE", "DECELERATE", "STOP"] | None


class Controls(Closed):
    """Pedals, and steer positive to the right."""

    throttle: Share
    brake: Share
    steer: Annotated[float, Field(ge=-1.0, le=1.0)]


class Decision(Closed):
    """A :class:`driveproof.policy.DriveDecision`: exactly one of keys, controls and error."""

    keys: Keys | None = None
    controls: Controls | None = None
    error: Text = ""
    trace: dict[str, JsonValue] | None = None
    usage: dict[str, Count] = {}
    latency_s: Seconds = 0.0
    outage: bool = False


class Health(Closed):
    """Answer of ``GET /health``, which wants no token. ``running`` and ``waiting`` count calls."""

    status: Literal["ok"] = "ok"
    versions: list[int]
    running: Count
    waiting: Count
    capacity: Count
    sessions: Count


class Identity(Closed):
    """Answer of ``GET /identity``.

    Attributes
    ----------
    role
        "chat" answers conversations, "driving" decides in sessions.
    identity
        What the policy says it is: kind, model, revision.
    prompts
        sha256 over the prompt templates of the server's own installation.
    digest
        sha256 over all the above.
    """

    role: Literal["chat", "driving"]
    name: Name
    views: list[Camera] = []
    history: Annotated[int, Field(ge=1, le=MAX_IMAGES)] = 1
    identity: dict[str, JsonValue]
    program: str
    prompts: Digest
    digest: Digest


class Problem(Closed):
    """Body of every answer that is not a success: a code for programs, a line for people.

    ``supported`` versions if it is the version, and when to come back if the server is busy.
    """

    code: Name
    problem: Text
    supported: list[int] = []
    retry_s: Seconds | None = None


def fields_of(message: type[BaseModel], prefix: str = "") -> list[str]:
    """Every field of a message and of the messages within, ``observation.pictures.data``; sorted, each once."""
    found = set()
    for name, info in message.model_fields.items():
        found.add(prefix + name)
        for inner in _messages_in(info.annotation):
            found.update(fields_of(inner, f"{prefix}{name}."))
    return sorted(found)


def _messages_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    parts = (*getattr(annotation, "__args__", ()), *getattr(annotation, "__metadata__", ()))
    return [inner for part in parts for inner in _messages_in(part)]
