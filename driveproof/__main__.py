"""``python -m driveproof``."""

from driveproof.cli import main

if __name__ == "__main__":
    main()
