"""Driving logs of many formats as :class:`driveproof.scene.Log`: one file and one registry line a format."""
