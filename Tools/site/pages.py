"""The pages of the site: those of docs/ with links that lead to the site's own files, and the files of the repository that they link to."""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import quote, unquote

FENCE = re.compile(r"^(?P<fence>`{3,}).*?^(?P=fence)`*[ \t]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s#]*)(?P<anchor>#[^)\s]*)?(?P<after>\))")
LANGUAGES = {".swift": "swift", ".lua": "lua", ".py": "python", ".json": "json", ".yml": "yaml", ".js": "js", ".rb": "ruby", ".go": "go",
             ".sh": "sh", ".c": "c", ".h": "c"}
# A page that sphinx neither misses in the navigation nor finds by words.
ASIDE = "---\norphan: true\nnosearch: true\n---\n\n"


class Pages:
    """The pages by their path in the repository; `write` puts them below a folder."""

    def __init__(self, root, stage):
        self.root = root
        self.stage = stage
        self.generated = []
        tracked = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True,
                                 stdout=subprocess.PIPE, text=True).stdout
        self.tracked = {name for name in tracked.split("\0") if name and (root / name).is_file()}
        self.wanted = []
        self.places = {}

    def add_generated(self, section, name, text):
        """Adds a page that is in no folder of the repository to the end of a section."""
        self.generated.append((section, name, text))

    def write(self):
        for name in sorted(self.tracked):
            if name.startswith("docs/"):
                self.place(name)
        for section, name, text in self.generated:
            self.put(name, text)
        for name in self.wanted:
            self.put(self.places[name], self.content(name))

    def place(self, name):
        """The path in the site of a file or folder of the repository, which becomes a page if it is none yet."""
        if name not in self.places:
            if name.startswith("docs/"):
                self.places[name] = name.removeprefix("docs/")
            elif name.endswith(".md"):
                self.places[name] = f"repository/{name}"
            else:
                self.places[name] = f"repository/{name}.md" if name in self.tracked else f"repository/{name}/files.md"
            self.wanted.append(name)
        return self.places[name]

    def content(self, name):
        if name not in self.tracked:
            return self.listing(name)
        data = (self.root / name).read_bytes()
        if not name.endswith(".md"):
            return data if name.startswith("docs/") else self.code(name, data.decode())
        text = self.relinked(name, data.decode())
        if name == "docs/index.md":
            return text + self.navigation(text)
        listed = name.startswith("docs/") or f"]({self.place(name)})" in self.relinked("docs/index.md", self.text("docs/index.md"))
        return text if listed else ASIDE + text

    def text(self, name):
        return (self.root / name).read_text()

    def relinked(self, name, text):
        """The text of a page whose links lead to places in the site, except in blocks of code."""
        parts, end = [], 0
        for match in FENCE.finditer(text):
            parts += [self.replaced(name, text[end:match.start()]), match[0]]
            end = match.end()
        return "".join(parts) + self.replaced(name, text[end:])

    def replaced(self, name, prose):
        def link(match):
            target = match["target"]
            if not target or "://" in target or target.startswith("mailto:"):
                return match[0]
            found = os.path.normpath(os.path.join(os.path.dirname(name), unquote(target)))
            if found.startswith("..") or not (self.root / found).exists():
                raise SystemExit(f"{name}: no file or folder {target}")
            place = os.path.relpath(self.place(found), os.path.dirname(self.place(name)) or ".")
            return f"{match['before']}{quote(place, safe='/+')}{match['anchor'] or ''}{match['after']}"

        return LINK.sub(link, prose)

    def code(self, name, text):
        fence = "`" * max([3, *(len(found) + 1 for found in re.findall("`+", text))])
        language = LANGUAGES.get(Path(name).suffix) or ("python" if "python" in text[:60] else "sh" if text.startswith("#!") else "text")
        return f"{ASIDE}# {os.path.basename(name)}\n\n`{name}`\n\n{fence}{language}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"

    def listing(self, name):
        """The files of a folder."""
        found = sorted(file for file in self.tracked if file.startswith(f"{name}/"))
        if not found:
            raise SystemExit(f"the folder {name} has no tracked file")
        own = os.path.dirname(self.places[name])
        rows = "".join(f"- [{file.removeprefix(name + '/')}]({quote(os.path.relpath(self.place(file), own), safe='/+')})\n" for file in found)
        return f"{ASIDE}# {name}\n\n{rows}"

    def navigation(self, index):
        """The sections of the index as parts of the navigation."""
        parts = []
        for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
            title, _, body = section.partition("\n")
            names = re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", body, flags=re.MULTILINE)
            names += [name for wanted, name, _ in self.generated if wanted == title]
            entries = "\n".join(names)
            parts.append(f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```\n")
        return "".join(parts)

    def put(self, place, content):
        path = self.stage / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
