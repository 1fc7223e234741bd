# SPDX-License-Identifier: GPL-3.0-or-later
"""
The page, as HTML and as text for the terminal, from the same parts: headings, paragraphs, tables,
figures. Nothing is measured here.
"""
import html

STYLE = """
:root { color-scheme: light dark; --ink: #1a1c20; --ground: #fff; --line: #d5d8dd; --a: #2b6cb0; --b: #b3261e; }
@media (prefers-color-scheme: dark) {
	:root { --ink: #e8eaed; --ground: #15171a; --line: #3a3f46; --a: #7fb3f0; --b: #ff8a80; } }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; font: 16px/1.5 system-ui, sans-serif;
	color: var(--ink); background: var(--ground); }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; text-align: left;
	border-bottom: 1px solid var(--line); } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.table { overflow-x: auto; } .table:focus-visible { outline: 3px solid var(--a); } figure { margin: 0; } .figures { display: flex; flex-wrap: wrap; gap: 1rem; }
svg { width: 340px; max-width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 11px; }
svg line { stroke: var(--line); } svg polyline { fill: none; stroke-width: 2; stroke: var(--a); }
svg polyline.b { stroke: var(--b); } svg text.a { fill: var(--a); } svg text.b { fill: var(--b); }
svg line.bar { stroke: var(--a); stroke-width: 3; opacity: .4; }
.miss { color: var(--b); font-weight: bold; }
"""


def text_of(cell):
    if cell is None:
        return "n/a"
    if isinstance(cell, bool):
        return "holds" if cell else "MISSED"
    if isinstance(cell, float):
        return "%.2f" % cell
    return str(cell)


def kind_of(cell):
    if cell is False:
        return ' class="miss"'
    return ' class="n"' if isinstance(cell, (int, float)) and not isinstance(cell, bool) else ""


class Page:
    """Collects the parts, then writes them."""

    def __init__(self, title):
        self.title = title
        self.parts = []
        self.missed = []

    def heading(self, text):
        self.parts.append(("heading", text))

    def paragraph(self, text):
        self.parts.append(("paragraph", text))

    def table(self, head, rows):
        self.parts.append(("table", head, rows))

    def figures(self, caption, plots):
        self.parts.append(("figures", caption, plots))

    def claim(self, text, holds):
        """What the paper says and whether it came out here."""
        self.parts.append(("claim", text, holds))
        if not holds:
            self.missed.append(text)

    def html(self):
        out = ['<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
               '<meta name="viewport" content="width=device-width, initial-scale=1">',
               "<title>%s</title><style>%s</style></head><body><h1>%s</h1>"
               % (html.escape(self.title), STYLE, html.escape(self.title))]
        out += [getattr(self, "html_" + part[0])(*part[1:]) for part in self.parts]
        return "\n".join(out) + "\n</body></html>\n"

    @staticmethod
    def html_heading(text):
        return "<h2>%s</h2>" % html.escape(text)

    @staticmethod
    def html_paragraph(text):
        return "<p>%s</p>" % html.escape(text)

    @staticmethod
    def html_claim(text, holds):
        return "<p%s>%s: %s</p>" % ("" if holds else ' class="miss"',
                                    "Holds" if holds else "Missed", html.escape(text))

    @staticmethod
    def html_table(head, rows):
        line = "".join("<th>%s</th>" % html.escape(h) for h in head)
        body = "".join("<tr>%s</tr>" % "".join("<td%s>%s</td>" % (kind_of(c), html.escape(text_of(c)))
                                               for c in row) for row in rows)
        return '<div class="table" tabindex="0" role="group" aria-label="Table: %s"><table><tr>%s</tr>%s</table></div>' % (
            html.escape(", ".join(head)), line, body)

    @staticmethod
    def html_figures(caption, plots):
        return "<h3>%s</h3><div class=\"figures\">%s</div>" % (
            html.escape(caption), "".join("<figure>%s</figure>" % p for p in plots))

    def text(self):
        out = [self.title]
        for part in self.parts:
            writer = getattr(self, "text_" + part[0], None)
            if writer:
                out.append(writer(*part[1:]))
        return "\n".join(out) + "\n"

    @staticmethod
    def text_heading(text):
        return "\n%s\n" % text

    @staticmethod
    def text_paragraph(text):
        return text

    @staticmethod
    def text_claim(text, holds):
        return "%s %s" % ("holds " if holds else "MISSED", text)

    @staticmethod
    def text_table(head, rows):
        cells = [list(head)] + [[text_of(c) for c in row] for row in rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
        numeric = [bool(rows) and kind_of(rows[0][i]) == ' class="n"' for i in range(len(head))]
        return "\n".join("  ".join(c.rjust(w) if n else c.ljust(w)
                                   for c, w, n in zip(row, widths, numeric)).rstrip() for row in cells)
