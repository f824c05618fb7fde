"""A small graph of films as people have them: names of relations in several styles, dollars, dates, gaps."""

from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.graph.literals import read_date

FILMS = [  # film, director, genres, budget in US dollars, minutes, released
    ("Metropolis", "Fritz Lang", ["Drama", "Science fiction"], 1_300_000, 153, "1927-01-10"),
    ("M", "Fritz Lang", ["Crime", "Drama"], None, 111, "1931-05-11"),
    ("Modern Times", "Charlie Chaplin", ["Comedy"], 1_500_000, 87, "1936-02-05"),
    ("The Kid", "Charlie Chaplin", ["Comedy", "Drama"], 250_000, 53, "1921-01-21"),
    ("Rear Window", "Alfred Hitchcock", ["Crime"], 1_000_000, 112, "1954-09-01"),
    ("Psycho", "Alfred Hitchcock", ["Crime"], 807_000, 109, "1960-09-08"),
    ("Star Wars", "George Lucas", ["Science fiction"], 11_000_000, 121, "1977-05-25"),
    ("Alien", "Ridley Scott", ["Science fiction"], 11_000_000, 117, "1979-05-25"),
    ("Memento", "Christopher Nolan", ["Crime"], 9_000_000, 113, "2000-09-05"),
    ("Following", "Christopher Nolan", ["Crime"], 6_000, 69, None),
    ("Clerks", "Kevin Smith", ["Comedy"], 27_575, None, "1994-10-19"),
    ("Before Sunrise", "Richard Linklater", ["Drama"], 2_500_000, 101, "1995-01-27"),
    ("Pi", "Darren Aronofsky", ["Drama", "Science fiction"], 60_000, 84, "1998-07-10"),
]
BORN = {
    "Fritz Lang": "1890-12-05", "Charlie Chaplin": "1889-04-16", "Alfred Hitchcock": "1899-08-13",
    "George Lucas": "1944-05-14", "Ridley Scott": "1937-11-30", "Christopher Nolan": "1970-07-30",
    "Kevin Smith": "1970-08-02", "Richard Linklater": "1960-07-30",
}  # fmt: skip


def films() -> KnowledgeGraph:
    """The graph; no relation has a phrase, so all verbs are guessed."""
    builder = GraphBuilder()
    for film, director, genres, budget, minutes, released in FILMS:
        builder.add_fact(film, "is_a", "Film")
        builder.add_fact(director, "is_a", "Person")
        builder.add_fact(film, "directedBy", director)
        for genre in genres:
            builder.add_fact(film, "has_genre", genre)
            builder.add_fact(genre, "is_a", "Genre")
        if budget is not None:
            builder.add_value(film, "budget", budget, "US dollars")
        if minutes is not None:
            builder.add_value(film, "length", minutes, "minutes")
        if released is not None:
            builder.add_value(film, "releaseDate", read_date(released), "date")
    for person, day in BORN.items():
        builder.add_value(person, "birth_date", read_date(day), "date")
    return builder.build()
