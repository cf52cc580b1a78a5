"""The graph of questions that makes a model reason: order, inheritance, ground truth nodes, and the run of it."""
