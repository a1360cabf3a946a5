"""Effect sizes: differences from a reference pooling with confidence intervals, a forest plot."""

from lfds.report.figures.strips import reference_line, strips, write_row
from lfds.report.figures.style import FAINT, PAPER, Drawing, row_colors
from lfds.report.formatting import MINUS, file_name, p_text, points
from lfds.report.ranking import ALPHA, Leaderboard
from lfds.report.verdict import against, reference_row


def draw_effects(board: Leaderboard, column: str) -> Drawing | None:
    """Draw one dataset, a strip per row but the reference; None if nothing can be compared."""
    reference = reference_row(board)
    found = {} if reference is None else against(board, reference, column)
    if not found:
        return None
    figure, axes = strips(len(found))
    reference_line(axes, 0, len(found), linewidth=0.8)
    colors, tips, described = row_colors(board.rows), {}, []
    for place, (row, (pair, sign)) in enumerate(found.items()):
        one = pair.comparison
        middle = 100 * sign * one.difference
        low, high = sorted((100 * sign * one.low, 100 * sign * one.high))
        significant, color, height = pair.p < ALPHA, colors[row], place + 0.12
        axes.axhline(height, color=FAINT, linewidth=0.5, zorder=0)
        axes.plot([low, high], [height] * 2, color=color, linewidth=1.6, solid_capstyle="butt")
        axes.scatter(
            [middle],
            [height],
            marker="s",
            s=30,
            facecolors=color if significant else PAPER,
            edgecolors=color,
            linewidths=1.4,
            zorder=3,
            gid=f"tips-{place}",
        )
        size = f"{points(middle / 100)} ({points(low / 100)} to {points(high / 100)})"
        write_row(axes, place, row, size, color, bold=significant)
        text = f"{row} minus {reference}: {size} percentage points, p {p_text(pair.p)}"
        tips[f"tips-{place}"] = [text]
        described.append(text)
    axes.set_xlabel(f"percentage points above {reference}")
    axes.xaxis.set_major_formatter(
        lambda value, _: f"{value:+g}".replace("-", MINUS) if value else "0"
    )
    return Drawing(
        file_name("effects", column, board.rule),
        f"Difference from {reference} on {column}, rule {board.rule}",
        "; ".join(described) + ".",
        figure,
        tips=tips,
    )
