"""Text in cells of CSV files, which spreadsheets may take for formulas."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def spreadsheet_text(text: str) -> str:
    """Return a name so that a spreadsheet shows it and does not run it; numbers stay as they are.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("-1"), spreadsheet_text("ring")
    ("'=1+1", '-1', 'ring')
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
