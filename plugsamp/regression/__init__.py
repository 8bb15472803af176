"""Responses, and the weights of topics for them (MODEL section 4)."""
