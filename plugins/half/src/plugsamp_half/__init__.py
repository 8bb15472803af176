"""A proposal of plugsamp: the topics of the other half of the document."""
