"""The quiz show's board: eight topics with five questions each, from easy to hard.

A question comes with the answers that count as right; the first one is the one the host reads out.
"""

QUESTIONS = {
    "history": [
        ("Which wall, opened in November 1989, had divided a German city for 28 years?", ["Berlin Wall", "Berlin"]),
        ("Which ship sank on her first voyage in April 1912 after meeting an iceberg?", ["Titanic"]),
        ("Which city was buried with Herculaneum when Vesuvius erupted in the year 79?", ["Pompeii"]),
        ("Which queen of Egypt was the last of the line of Ptolemy to rule?", ["Cleopatra"]),
        ("In which year did Constantinople fall to Mehmed the Second?", ["1453"]),
    ],
    "geography": [
        ("What is the capital of Canada?", ["Ottawa"]),
        ("Which is the largest ocean on Earth?", ["Pacific"]),
        ("Which country has the cities of Porto, Braga and Coimbra?", ["Portugal"]),
        ("Which strait lies between Spain and Morocco?", ["Gibraltar"]),
        ("What is the capital of Kazakhstan?", ["Astana"]),
    ],
    "science": [
        ("Which planet of the solar system is the largest?", ["Jupiter"]),
        ("Which gas do plants take in for photosynthesis?", ["carbon dioxide", "CO2"]),
        ("Which chemical element has the symbol Fe?", ["iron"]),
        ("Which scientist won Nobel Prizes in both physics and chemistry?", ["Marie Curie", "Curie"]),
        ("Which particle carries the electromagnetic force?", ["photon", "photons"]),
    ],
    "nature": [
        ("Which land animal is the tallest?", ["giraffe", "giraffes"]),
        ("How many legs does a spider have?", ["eight", "8"]),
        ("Which bird can fly backwards?", ["hummingbird", "hummingbirds", "humming bird"]),
        ("Which mammal lays eggs and has a bill like a duck?", ["platypus"]),
        ("Which tree does the acorn come from?", ["oak", "oak tree"]),
    ],
    "music": [
        ("How many strings does a violin have?", ["four", "4"]),
        ("Which band recorded the album Abbey Road?", ["The Beatles", "Beatles"]),
        ("Which instrument has 88 keys?", ["piano"]),
        ("Who wrote the opera The Magic Flute?", ["Mozart"]),
        ("Which composer wrote the Goldberg Variations?", ["Bach"]),
    ],
    "books": [
        ("Which detective lives at 221B Baker Street?", ["Sherlock Holmes", "Holmes", "Sherlock"]),
        ("Who wrote Romeo and Juliet?", ["Shakespeare"]),
        ("What is the name of Don Quixote's companion?", ["Sancho Panza", "Sancho"]),
        ("Who wrote Frankenstein?", ["Mary Shelley", "Shelley"]),
        (
            "Which novel begins on a bright cold day in April, with the clocks striking thirteen?",
            ["1984", "Nineteen Eighty-Four"],
        ),
    ],
    "computing": [
        ("How many bits are in a byte?", ["eight", "8"]),
        ("Which language is named after a British comedy troupe?", ["Python"]),
        ("Who started the Linux kernel in 1991?", ["Linus Torvalds", "Torvalds", "Linus"]),
        ("Which HTTP status code says that a page was not found?", ["404"]),
        ("Who proposed the World Wide Web while working at CERN?", ["Tim Berners-Lee", "Berners-Lee"]),
    ],
    "food": [
        ("Which vegetable makes you cry when you cut it?", ["onion", "onions"]),
        ("Which fruit is guacamole made of?", ["avocado", "avocados"]),
        ("Which country does paella come from?", ["Spain"]),
        ("Which spice comes from the crocus flower?", ["saffron"]),
        ("Which grain is risotto made of?", ["rice"]),
    ],
}
