"""For the official leaderboard: the agent file that it loads. It stands alone and imports nothing of driveproof."""
