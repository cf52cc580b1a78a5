"""Training of vision-language models: what the teacher says, and learning to say it."""
