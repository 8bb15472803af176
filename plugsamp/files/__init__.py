"""How things are kept: folders and archives of plain arrays, values as JSON, CSV."""
