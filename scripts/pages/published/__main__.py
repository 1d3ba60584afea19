"""`python -m scripts.pages.published`: compute the bounds of all published figures, and write their page."""

from scripts.pages.published import page

if __name__ == "__main__":
    page.write()
