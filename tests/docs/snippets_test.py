#!/usr/bin/env python3
"""All C++ shown in README.md and docs/ stands in an example, which is compiled and run."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
examples = {}
for path in sorted((root / "examples").glob("*.cpp")):
    examples[path.name] = [line.strip() for line in path.read_text().splitlines() if line.strip()]


def contains(lines, wanted):
    """Whether `wanted` is a run of `lines`; a blank line or "..." in it may skip some."""
    return any(lines[at:at + len(wanted)] == wanted for at in range(len(lines)))


def paragraphs(block):
    part = []
    for line in block.splitlines() + [""]:
        if line.strip() in ("", "..."):
            if part:
                yield part
            part = []
        else:
            part.append(line.strip())


missing = []
shown = 0
for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
    for block in re.findall(r"^```cpp\n(.*?)^```", page.read_text(), re.M | re.S):
        for part in paragraphs(block):
            shown += 1
            if not any(contains(lines, part) for lines in examples.values()):
                missing.append("\n    ".join([f"{page.name}: no example has these lines:", *part]))

print("\n".join(missing))
print(f"{shown - len(missing)} passed, {len(missing)} failed")
sys.exit(bool(missing) or shown == 0)
