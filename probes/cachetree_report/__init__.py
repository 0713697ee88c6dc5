"""Turns the facts of many releases into a report that people want to look at."""
