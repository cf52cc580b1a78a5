"""One file a DVC stage: read a section of params.yaml, call the library, write files."""
