"""Source files for tools that look at their text and at their code."""
import io
import itertools
import re
import tokenize

COMMENT_OR_TEXT = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)
NO_SHELL_NAME = re.compile(r"#[^\n]*|(?<![$\w{])\w+\b(?!=)")


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def python_code(text):
    starts = [0, *itertools.accumulate(map(len, text.splitlines(keepends=True)))]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            begin, end = (starts[row - 1] + at for row, at in (token.start, token.end))
            text = text[:begin] + blank(text[begin:end]) + text[end:]
    return text


class Source:
    """A file as text, and as code in which comments and strings are blank."""

    def __init__(self, path, name):
        self.name = name
        self.text = path.read_text(encoding="utf-8")
        self.lines = self.text.splitlines()
        no_code = NO_SHELL_NAME if name.endswith(".sh") else COMMENT_OR_TEXT
        self.code = (python_code(self.text) if name.endswith(".py") else
                     no_code.sub(lambda found: blank(found.group()), self.text))

    def line(self, at, text=None):
        return (text or self.text).count("\n", 0, at) + 1

    def find(self, pattern, message):
        for found in pattern.finditer(self.code):
            yield self.line(found.start()), message.format(found.group().strip())
