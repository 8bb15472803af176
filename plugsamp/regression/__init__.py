"""Responses, and the weights of topics for them (model.md section 4)."""
