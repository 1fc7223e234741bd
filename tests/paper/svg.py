# SPDX-License-Identifier: GPL-3.0-or-later
"""Line plots as inline SVG: no script, nothing fetched, colours from the page's style sheet."""
import html
import math

WIDTH, HEIGHT = 340, 240
# Names of lines stand above the plot: inside, a line may run through them.
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 34, 40


def number(value):
    """A tick's label: 1.5M, 20k, 0.25."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return "%.3g%s" % (value / size, unit)
    return "%.3g" % value


def scale(low, high, begin, end):
    span = (high - low) or 1
    return lambda value: begin + (value - low) / span * (end - begin)


def ticks(low, high, count=5):
    """Multiples of 1, 2, 2.5 or 5 times a power of ten, about so many."""
    least = (high - low) / count or 1
    power = 10 ** math.floor(math.log10(least))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= least * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [step * i for i in range(first, math.floor(high / step + 1e-9) + 1)]


def axes(x, y, x_ticks, y_range, x_label, y_label):
    """x_ticks: (place, label)."""
    parts = ['<line x1="%d" y1="%d" x2="%d" y2="%d"/>' % (LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM),
             '<line x1="%d" y1="%d" x2="%d" y2="%d"/>' % (LEFT, TOP, LEFT, HEIGHT - BOTTOM)]
    for value, label in x_ticks:
        parts.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>'
                     % (x(value), HEIGHT - BOTTOM + 14, html.escape(label)))
    for value in ticks(*y_range):
        parts.append('<text x="%d" y="%.1f" text-anchor="end">%s</text>'
                     % (LEFT - 5, y(value) + 4, number(value)))
    parts.append('<text x="%d" y="%d" text-anchor="middle">%s</text>'
                 % ((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 8, html.escape(x_label)))
    parts.append('<text transform="translate(12 %d) rotate(-90)" text-anchor="middle">%s</text>'
                 % ((TOP + HEIGHT - BOTTOM) // 2, html.escape(y_label)))
    return parts


def plot(xs, lines, x_label, y_label, bars=None, names=None):
    """lines: (name, values, class). bars: (low, high) at each x. names: of each x, instead of its number. The
    y axis begins at 0."""
    highest = max(max(values) for _, values, _ in lines)
    if bars:
        highest = max(highest, max(high for _, high in bars))
    x_range, y_range = (min(xs), max(xs)), (0, highest * 1.05 or 1)
    x = scale(*x_range, LEFT, WIDTH - RIGHT)
    y = scale(*y_range, HEIGHT - BOTTOM, TOP)
    label = "%s against %s" % (y_label, x_label)
    parts = ['<svg viewBox="0 0 %d %d" role="img" aria-label="%s">' % (WIDTH, HEIGHT, html.escape(label))]
    x_ticks = zip(xs, names) if names else [(value, number(value)) for value in ticks(*x_range)]
    parts += axes(x, y, x_ticks, y_range, x_label, y_label)
    for at, (low, high) in zip(xs, bars or ()):
        parts.append('<line class="bar" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>'
                     % (x(at), y(low), x(at), y(high)))
    for place, (name, values, style) in enumerate(lines):
        points = " ".join("%.1f,%.1f" % (x(a), y(b)) for a, b in zip(xs, values))
        parts.append('<polyline class="%s" points="%s"/>' % (style, points))
        if name:
            parts.append('<text class="%s" x="%d" y="%d" text-anchor="end">%s</text>'
                         % (style, WIDTH - RIGHT, 12 + 14 * place, html.escape(name)))
    return "".join(parts) + "</svg>"
