"""The parts of a sweep (MODEL section 6)."""
