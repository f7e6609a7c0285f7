"""Drawing functions for Scripts/images and Scripts/architecture: SVG in the style of the marble diagrams, light and dark."""
import os
from xml.sax.saxutils import escape

project = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
images = os.path.join(project, "docs", "images")
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
# Each color on light, and on dark.
COLOURS = {
    "paper": ("#ffffff", "#0d1117"), "edge": ("#d0d7de", "#30363d"), "ink": ("#1f2328", "#e6edf3"),
    "dim": ("#656d76", "#8b949e"), "red": ("#cf222e", "#ff7b72"), "green": ("#1a7f37", "#3fb950"),
    "yellow": ("#9a6700", "#d29922"), "blue": ("#3b6fd4", "#79a6ff"), "magenta": ("#8f4bb0", "#d2a8ff"),
    "cyan": ("#1f7a8c", "#56d4dd"), "ours": ("#3b6fd4", "#5b8def"), "other": ("#8c959f", "#6e7681"),
}
# What lines are drawn in.
STROKES = {"line": "edge", "arrow": "dim", "value": "blue", "demand": "yellow"}
# Each reads under white text, and on white and black: the marbles' palette.
BLUE, BROWN, GREEN, PURPLE, ROSE, TEAL, OLIVE, GREY = (
    "#3b6fd4", "#b8541f", "#2c7f57", "#8f4bb0", "#b93a63", "#1f7a8c", "#86691d", "#475063")


def n(number):
    """A coordinate with at most one decimal."""
    text = f"{number:.1f}"
    return text.removesuffix(".0")


def width(text, size):
    """Monospaced fonts are 0.6 of their size wide, near enough."""
    return len(text) * size * 0.6


def svg(width, height, title, description, body):
    """A whole document, whose body uses the colors by name."""
    def rules(theme):
        fills = "".join(f".{name}{{fill:{color[theme]}}}" for name, color in COLOURS.items() if f'"{name}"' in body)
        return fills + "".join(
            f".{name}{{fill:none;stroke:{COLOURS[color][theme]}}}" for name, color in STROKES.items() if f'"{name}"' in body)

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{n(width)}" height="{n(height)}" '
        f'viewBox="0 0 {n(width)} {n(height)}" role="img" font-family="{FONT}">\n'
        f"<title>{escape(title)}</title>\n<desc>\n{escape(description)}\n</desc>\n"
        f"<style>{rules(0)}\n@media (prefers-color-scheme: dark){{{rules(1)}}}</style>\n{body}\n</svg>\n")


def text(x, y, words, size=13, color="ink", anchor="start", weight=""):
    weight = f' font-weight="{weight}"' if weight else ""
    anchor = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return (
        f'<text class="{color}" x="{n(x)}" y="{n(y)}" font-size="{n(size)}"{anchor}{weight} '
        f'xml:space="preserve">{escape(words)}</text>')


def box(x, y, wide, high, words, color, size=13):
    """A filled box with its name in it."""
    return (
        f'<rect x="{n(x)}" y="{n(y)}" width="{n(wide)}" height="{n(high)}" rx="8" fill="{color}"/>\n'
        f'<text x="{n(x + wide / 2)}" y="{n(y + high / 2 + size * 0.35)}" font-size="{n(size)}" fill="#fff" '
        f'text-anchor="middle">{escape(words)}</text>')


def write(name, document):
    os.makedirs(images, exist_ok=True)
    with open(os.path.join(images, name), "w") as file:
        file.write(document)
    print(f"docs/images/{name}")
