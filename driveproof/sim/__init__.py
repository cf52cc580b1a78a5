"""The CARLA side: the traffic world; later the client session and the embedded server."""
