"""Closed loop: routes become episodes, episodes become records, and nothing is lost when something dies."""
