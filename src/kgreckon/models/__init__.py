"""What answers questions: exact answering, the neural models and the reckoner."""
