"""The parts of a sweep (model.md section 6)."""
