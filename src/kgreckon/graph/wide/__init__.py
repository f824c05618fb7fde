"""Wide tables, one row per thing: read by libraries, guessed column by column, and stated as facts and values."""
