"""A drive to look at: one offline page an episode, an index of the run, a film on demand."""

from driveproof.report.replay.episode import Episode, Moment, read_episode
from driveproof.report.replay.pages import Replays, ReplayStyle, write_replays

__all__ = ["Episode", "Moment", "ReplayStyle", "Replays", "read_episode", "write_replays"]
