"""driveproof: build, judge and prove driving vision-language models, reproducibly."""

__version__ = "0.1.0"
