"""Fifty questions of real style: examples of query.wikidata.org and of textbooks, adapted to World's names."""

QUESTIONS = {
    "cities with their labels": """
        SELECT ?item ?itemLabel { ?item :is_a :City ; :in_country :Iceland ; rdfs:label ?itemLabel }
    """,
    "countries with population and area": """
        SELECT ?country ?population ?area { ?country :is_a :Country ; :population ?population ; :area ?area }
    """,
    "capitals and their countries in Europe": """
        SELECT ?capital ?country { ?capital :capital_of ?country . ?country :on_continent :Europe }
    """,
    "airports, with elevation where there is one": """
        SELECT ?a ?e { ?a :is_a :Airport OPTIONAL { ?a :elevation ?e } }
    """,
    "everything about a country": "SELECT ?p ?o { :Switzerland ?p ?o }",
    "what leads to a country": "SELECT ?s ?p { ?s ?p :Liechtenstein }",
    "optional after optional": """
        SELECT ?c ?l ?g { ?c :on_continent :Oceania OPTIONAL { ?c :literacy ?l } OPTIONAL { ?c :gdp ?g } }
    """,
    "optional with a condition": """
        SELECT ?c ?p { ?c :in_country :Monaco OPTIONAL { ?c :population ?p FILTER(?p > 5000) } }
    """,
    "what is missing": "SELECT ?a { ?a :is_a :Airport OPTIONAL { ?a :elevation ?e } FILTER(!BOUND(?e)) }",
    "largest cities": """
        SELECT ?city ?population { ?city :is_a :City ; :population ?population } ORDER BY DESC(?population) ?city
        LIMIT 10
    """,
    "the second page": "SELECT ?c ?p { ?c :is_a :Country ; :population ?p } ORDER BY DESC(?p) ?c LIMIT 10 OFFSET 10",
    "northernmost airports": "SELECT ?a ?l { ?a :is_a :Airport ; :latitude ?l } ORDER BY DESC(?l) LIMIT 5",
    "by two keys": "SELECT ?c ?k ?p { ?c :on_continent ?k ; :population ?p } ORDER BY ?k DESC(?p) ?c",
    "by a calculated key": "SELECT ?c { ?c :area ?a ; :population ?p } ORDER BY DESC(?p / ?a) LIMIT 8",
    "distinct languages": "SELECT DISTINCT ?l { ?c :official_language ?l } ORDER BY ?l",
    "how many of each kind": """
        SELECT ?type (COUNT(?x) AS ?count) { ?x :is_a ?type } GROUP BY ?type ORDER BY DESC(?count)
    """,
    "people by continent": "SELECT ?k (SUM(?p) AS ?people) { ?c :on_continent ?k ; :population ?p } GROUP BY ?k",
    "mean, least and most": """
        SELECT (AVG(?p) AS ?a) (MIN(?p) AS ?b) (MAX(?p) AS ?c) { ?x :is_a :Country ; :population ?p }
    """,
    "countries with many airports": """
        SELECT ?c (COUNT(*) AS ?n) { ?a :is_a :Airport ; :in_country ?c } GROUP BY ?c HAVING(COUNT(*) > 50)
    """,
    "the largest city of each country": """
        SELECT ?c (MAX(?p) AS ?most) { ?x :is_a :City ; :in_country ?c ; :population ?p } GROUP BY ?c
    """,
    "distinct values counted": "SELECT (COUNT(DISTINCT ?l) AS ?n) { ?c :speaks ?l }",
    "names joined": """
        SELECT ?c (GROUP_CONCAT(?n; SEPARATOR=', ') AS ?names) { SELECT ?c ?n { ?c :is_a :Country ;
        :official_language/rdfs:label ?n } ORDER BY ?c ?n } GROUP BY ?c
    """,
    "one of them": "SELECT (SAMPLE(?c) AS ?any) { ?c :capital_of :Japan }",
    "nothing counted": "SELECT (COUNT(?x) AS ?n) (SUM(?p) AS ?s) { ?x :capital_of :Nowhere ; :population ?p }",
    "density": "SELECT ?c ?density { ?c :population ?p ; :area ?a BIND(?p / ?a AS ?density) FILTER(?density > 1000) }",
    "a selected expression": """
        SELECT ?c (ROUND(?p / 1000000) AS ?millions) { ?c :is_a :Country ; :population ?p FILTER(?p > 1e8) }
    """,
    "labels by a pattern": "SELECT ?x ?l { ?x :is_a :City ; rdfs:label ?l FILTER(REGEX(?l, '^San ', 'i')) }",
    "labels that begin": "SELECT ?l { ?x :is_a :Country ; rdfs:label ?l FILTER(STRSTARTS(?l, 'United')) }",
    "labels that contain": """
        SELECT ?l { ?x :is_a :Airport ; rdfs:label ?l FILTER(CONTAINS(LCASE(?l), 'international')) } LIMIT 400
    """,
    "the longest names": "SELECT ?l (STRLEN(?l) AS ?n) { ?x :is_a :City ; rdfs:label ?l FILTER(STRLEN(?l) > 25) }",
    "either or": "SELECT ?c ?p { ?c :is_a :Country ; :population ?p FILTER(?p < 1000 || ?p > 1e9) }",
    "one of a list": "SELECT ?c ?p { ?c :population ?p FILTER(?c IN (:Japan, :France, :Brazil)) }",
    "not one of a list": "SELECT ?c ?d { ?c :borders ?d FILTER(?c NOT IN (:Spain, :Italy)) }",
    "IF and COALESCE": """
        SELECT ?c (IF(?p > 1e7, 'large', 'small') AS ?size) (COALESCE(?l, -1) AS ?literacy) { ?c :on_continent
        :Europe ; :population ?p OPTIONAL { ?c :literacy ?l } }
    """,
    "strings built": """
        SELECT (CONCAT(?a, ' is the capital of ', ?b) AS ?told) { ?x :capital_of ?y . ?x rdfs:label ?a . ?y
        rdfs:label ?b . ?y :on_continent :Asia }
    """,
    "local names": "SELECT (STRAFTER(STR(?c), 'urn:kgreckon:') AS ?n) { ?c :borders :Germany }",
    "dates in expressions": """
        SELECT (YEAR('1969-07-20T20:17:40Z'^^xsd:dateTime) AS ?y) ('1969-07-20'^^xsd:date < '1970-01-01'^^xsd:date
        AS ?b) {}
    """,
    "reachable by land": "SELECT ?c { :Portugal :borders+ ?c }",
    "reachable or itself": "SELECT (COUNT(DISTINCT ?c) AS ?n) { :South%20Africa :borders* ?c }",
    "in a country or its neighbors": "SELECT DISTINCT ?city { ?city :is_a :City ; :in_country/:borders? :Luxembourg }",
    "anything but borders": "SELECT ?o { :Andorra !:borders ?o }",
    "triangles of neighbors": """
        SELECT ?a ?b ?c { ?a :borders ?b . ?b :borders ?c . ?c :borders ?a FILTER(STR(?a) < STR(?b) && STR(?b) <
        STR(?c)) }
    """,
    "neighbors that share a language": """
        SELECT ?a ?b ?l { ?a :borders ?b ; :official_language ?l . ?b :official_language ?l FILTER(STR(?a) <
        STR(?b)) }
    """,
    "within two degrees of Rome": """
        SELECT ?c ?d { :Rome :latitude ?r . ?c :is_a :City ; :latitude ?l BIND(ABS(?l - ?r) AS ?d) FILTER(?d < 0.2)
        }
    """,
    "two variables in VALUES": """
        SELECT ?c ?k { VALUES (?c ?k) { (:Japan :Asia) (:France :Africa) (UNDEF :Europe) } ?c :on_continent ?k }
    """,
    "more than the mean": """
        SELECT ?c { ?c :is_a :Country ; :population ?p { SELECT (AVG(?q) AS ?mean) { ?d :is_a :Country ; :population
        ?q } } FILTER(?p > ?mean) }
    """,
    "no neighbor is larger": """
        SELECT ?c { ?c :on_continent :South%20America ; :population ?p ; :borders ?any
        FILTER NOT EXISTS { ?c :borders ?d . ?d :population ?q
        FILTER(?q > ?p) } }
    """,
    "union with different variables": "SELECT * { { ?a :capital_of :Japan } UNION { ?b :capital_of :France } }",
    "a graph of capitals": """
        CONSTRUCT { ?k :hasCapital ?c ; rdfs:label ?l } WHERE { ?c :capital_of ?k . ?k :on_continent
        :South%20America ; rdfs:label ?l }
    """,
    "do three neighbors touch each other": """
        ASK { ?a :borders ?b . ?b :borders ?c . ?c :borders ?a ; :population ?p FILTER(?p > 1e8) }
    """,
}
