"""What a fitted model says of documents, how well, and how it is kept."""
