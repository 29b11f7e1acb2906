"""What the scripts and styles of sphinx and of Debian's theme lack to work from a folder, without a server."""

from pathlib import Path

NORMALIZE = Path("/usr/share/javascript/normalize.css/normalize.css")
STYLE_IMPORT = "@import url(/javascript/normalize.css/normalize.css);"
SCRIPT_IMPORT = 'import Gumshoe from "./gumshoe-patched.js";'


def complete(output):
    """Puts what the theme imports beside it, and into its script, which is not loaded as a module; fetches excerpts from servers only."""
    styles, scripts = output / "_static/styles", output / "_static/scripts"
    replace(styles / "furo.css", STYLE_IMPORT, "@import url(normalize.css);")
    (styles / "normalize.css").write_bytes(NORMALIZE.read_bytes())
    replace(scripts / "furo.js", SCRIPT_IMPORT, (scripts / "gumshoe-patched.js").read_text())
    (scripts / "gumshoe-patched.js").unlink()
    replace(output / "_static/documentation_options.js", "SHOW_SEARCH_SUMMARY: true", 'SHOW_SEARCH_SUMMARY: location.protocol !== "file:"')


def replace(path, old, new):
    text = path.read_text()
    if old not in text:
        raise SystemExit(f"{path} has no `{old}`: this version of the theme may need no change; see {__file__}")
    path.write_text(text.replace(old, new))
