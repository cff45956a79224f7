"""The names of a script are code, its texts are not: "words", "how"."""


def fetch(document, *how):  # offence: dialect
    words = document.split()  # offence: dialect
    return [*words, *how]  # offence: dialect
