"""What the command line shows: tables to stdout, progress and remarks to stderr."""
