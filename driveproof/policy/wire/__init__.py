"""Policies apart from the simulator: a versioned wire between the driving side and the policy side."""
