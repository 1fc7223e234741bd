# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the markup of a page of ours, one line each: markup.py FILE."""
import html.parser, re, sys

VOID = {"meta"}
FOREIGN = {"script", "link", "iframe", "object", "img"}
FILLED = {"p", "li", "h1", "h2", "h3", "pre"}
PLACES = "points x y x1 y1 x2 y2 cx cy width height".split()


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []
        self.held = []  # by each open element: text, and elements but for headings

    def look(self, tag, attributes):
        a = dict(attributes)
        if tag in FOREIGN or any(key.startswith("on") for key in a):
            self.wrong.append(f"there is a {tag} {a}")
        for key in ("src", "href", "style"):
            if "//" in (a.get(key) or ""):
                self.wrong.append(f"fetches {a[key]}")
        if tag == "svg" and not a.get("aria-label") and not a.get("aria-hidden"):
            self.wrong.append("a figure without a label")
        if any(re.search("nan|inf", a.get(key) or "") for key in PLACES):
            self.wrong.append(f"no number in {tag} {a}")

    def handle_starttag(self, tag, attributes):
        self.look(tag, attributes)
        self.hold(not tag.startswith("h"))
        if tag not in VOID:
            self.open.append(tag)
            self.held.append(0)

    def handle_startendtag(self, tag, attributes):
        self.look(tag, attributes)
        self.hold(True)

    def handle_data(self, data):
        self.hold(bool(data.strip()))

    def hold(self, something):
        if self.held:
            self.held[-1] += something

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"unexpected end of {tag} at {self.getpos()}")
        if self.held and not self.held.pop() and tag in FILLED | {"section"}:
            self.wrong.append(f"there is nothing in {tag} at {self.getpos()}")


def wrong(markup):
    page = Page()
    page.feed(markup)
    return page.wrong + ["never closed: " + tag for tag in page.open]


if __name__ == "__main__":
    for line in wrong(open(sys.argv[1], encoding="utf-8").read()):
        print(line)
