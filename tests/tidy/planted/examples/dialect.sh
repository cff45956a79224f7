# How many words: that is no name.
words=$(wc -w "$1")        # offence: dialect
echo "words: $words"       # offence: dialect
