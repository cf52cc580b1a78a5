"""Prefect flows: they run commands on a checkout and hold no logic of the domain."""
