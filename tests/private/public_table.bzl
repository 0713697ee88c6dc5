"""The releases of the public table that started this project (Samsung/TICO issue 417)."""

PUBLIC_TABLE = [
    "4.51.0",
    "4.51.1",
    "4.52.0",
    "4.52.1",
    "4.53.0",
    "4.54.0",
    "4.54.1",
    "4.55.0",
    "4.55.1",
    "4.56.0",
    "4.56.1",
    "4.57.0",
    "4.57.1",
]
