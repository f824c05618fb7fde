"""Answering: a trained run and its graph, asked like a person: ranked answers, observed or inferred, with reasons."""

from kgreckon.answering.answerer import Answer, Answerer, Answers, Estimate, Only, Ranking, name_of, witnesses

__all__ = ["Answer", "Answerer", "Answers", "Estimate", "Only", "Ranking", "name_of", "witnesses"]
