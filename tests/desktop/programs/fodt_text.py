"""What a flat text document of LibreOffice holds: one object of JSON with its text, a line for each paragraph, its bold text,
and its headings.

fodt_text.py FILE
"""
import json
import sys
import xml.etree.ElementTree as ElementTree

OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
WEIGHT = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}font-weight"
SIGNS = {TEXT + "tab": "\t", TEXT + "line-break": "\n"}


def weights(root):
    """The weight of each style that has one."""
    for style in root.iter(STYLE + "style"):
        properties = style.find(STYLE + "text-properties")
        if properties is not None and properties.get(WEIGHT):
            yield style.get(STYLE + "name"), properties.get(WEIGHT)


def pieces(node, weight, styles):
    """The text of a node, each piece with its weight."""
    weight = styles.get(node.get(TEXT + "style-name"), weight)
    if node.tag == TEXT + "s":
        yield " " * int(node.get(TEXT + "c", "1")), weight
    if node.tag in SIGNS:
        yield SIGNS[node.tag], weight
    yield node.text or "", weight
    for child in node:
        yield from pieces(child, weight, styles)
        yield child.tail or "", weight


def main():
    root = ElementTree.parse(sys.argv[1]).getroot()
    styles = dict(weights(root))
    body = root.find(OFFICE + "body").find(OFFICE + "text")
    paragraphs = [list(pieces(node, None, styles)) for node in body if node.tag in (TEXT + "p", TEXT + "h")]
    text = "\n".join("".join(piece for piece, _ in paragraph) for paragraph in paragraphs)
    bold = "".join(piece for paragraph in paragraphs for piece, weight in paragraph if weight == "bold")
    headings = ["".join(piece for piece, _ in pieces(node, None, styles)) for node in body if node.tag == TEXT + "h"]
    print(json.dumps({"text": text, "bold": bold, "headings": headings}))


main()
