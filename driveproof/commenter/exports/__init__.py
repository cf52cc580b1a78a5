"""Commentaries in the forms that others read: the peers' JSON, DriveLM graphs, conversations for training."""
