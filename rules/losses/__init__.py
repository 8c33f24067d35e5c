"""Rules about losses that do not fit what they are given, or never read it."""
