"""An OpenAI-compatible server that fills in forms like a diligent clerk, and dies when told to.

``python serve_judge.py PORT LOG ANSWERS`` writes a line to LOG for every request that it is paid for and ends itself,
without a word, after so many ANSWERS (0: never).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request

PORT, LOG, ANSWERS = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
app = FastAPI()
WORDS = {"swerve port": "SHIFT_LEFT", "anchors": "STOP", "crimson": "RED", "none whatsoever": None}
"""Words that the rules do not know, and what they mean."""


@app.get("/health")
def health() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/v1/chat/completions")
async def complete(request: Request) -> dict[str, Any]:
    body = await request.json()
    with LOG.open("a") as stream:
        stream.write(json.dumps(body) + "\n")
    if ANSWERS and len(LOG.read_text().splitlines()) > ANSWERS:
        os._exit(1)
    asked = json.loads(body["messages"][-1]["content"])
    form: dict[str, Any] = {}
    for name, allowed in body["response_format"]["json_schema"]["schema"]["properties"].items():
        said = [value for word, value in WORDS.items() if word in asked["answer"].lower()]
        fits = [value for value in said if value in allowed.get("enum", ())]
        form[name] = fits[0] if fits else None
    message = {"role": "assistant", "content": json.dumps(form)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}  # fmt: skip


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="error")
