"""Driving a suite: routes become episodes, nothing is lost when something dies, and a folder says how far it is."""
