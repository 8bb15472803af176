"""`plugsamp guide`: the pages of the guide in a terminal, or all of them as one HTML file."""

from __future__ import annotations

import re
import sys
from html import escape
from importlib import resources

from plugsamp.files.whole import complete
from plugsamp.registry import suggestion

HELP = """\
plugsamp guide                list the pages
plugsamp guide PAGE ...       show pages; into a file or a pipe they are written as Markdown
plugsamp guide --html FILE    write all pages as one HTML file that needs no network
"""

#: The page whose table lists the others, in their order.
FIRST = "start"

STYLE = """\
:root { color-scheme: light dark; --line: #8885; --wash: #8882; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 78rem; padding: 1.5rem; font: 16px/1.55 system-ui, sans-serif; }
nav ul { list-style: none; padding: 0; }
nav li ul { padding-left: 1rem; font-size: .9rem; }
section { border-top: 1px solid var(--line); margin-top: 3rem; }
h1, h2, h3 { line-height: 1.25; }
p, li { max-width: 75ch; }
code, pre { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .88em; }
pre { background: var(--wash); padding: .8rem 1rem; overflow-x: auto; border-radius: 4px; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .7rem; text-align: left; vertical-align: top; }
@media (min-width: 70rem) {
  body { display: grid; grid-template-columns: 16rem 1fr; gap: 3rem; }
  nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; }
  main { min-width: 0; }
}
"""


def main(arguments: list[str]) -> int:
    if any(a in ("-h", "--help") for a in arguments):
        print(HELP, end="")
        return 0
    texts = pages()
    if arguments[:1] == ["--html"]:
        if len(arguments) != 2:
            print("plugsamp guide: --html needs one file: plugsamp guide --html guide.html", file=sys.stderr)
            return 2
        with complete(arguments[1]) as file:
            file.write(html(texts))
        return 0
    names = [name.removesuffix(".md").lower() for name in arguments]
    for name in names:
        if name not in texts:
            print(f"plugsamp guide: no page {name!r}{suggestion(name, texts)}", file=sys.stderr)
            return 2
    for name in names:
        _show(texts[name])
    if not names:
        print(_list(texts[FIRST]))
    return 0


def pages() -> dict[str, str]:
    """Return the Markdown of all pages by name, in the order of the first page's table."""
    folder = resources.files("plugsamp") / "guide"
    texts = {
        file.name.removesuffix(".md"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".md")
    }
    order = [FIRST, *(name for name, _ in _entries(texts[FIRST]))]
    return {name: texts[name] for name in [*order, *sorted(set(texts) - set(order))]}


def _entries(text: str) -> list[tuple[str, str]]:
    """Name and description of each page that a table lists."""
    return re.findall(r"^\| \[[^\]]+\]\((\w+)\.md\) \| (.*) \|$", text, re.M)


def _list(text: str) -> str:
    entries = [(FIRST, "install, a first fit, and the other pages"), *_entries(text)]
    width = max(len(name) for name, _ in entries)
    lines = [f"  plugsamp guide {name:{width}}  {about.replace('`', '')}" for name, about in entries]
    return "\n".join(["Pages of the guide:", *lines, "", "plugsamp guide --html FILE writes all of them."])


def _show(text: str) -> None:
    if not sys.stdout.isatty():
        print(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text, hyperlinks=False))


def html(texts: dict[str, str]) -> str:
    """Return one HTML page of all texts, with a table of contents; links between pages stay inside it."""
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    contents, sections = [], []
    for name, text in texts.items():
        tokens = markdown.parse(text)
        title, parts = name, []
        for token, inline in zip(tokens, [*tokens[1:], None], strict=True):
            if token.type == "heading_open":
                if token.tag == "h1":
                    title = inline.content
                else:
                    anchor = f"{name}-{slug(inline.content)}"
                    token.attrSet("id", anchor)
                    if token.tag == "h2":
                        parts.append(f'<li><a href="#{anchor}">{escape(inline.content)}</a></li>')
            for child in token.children or ():
                if child.type == "link_open":
                    child.attrSet("href", _inside(name, str(child.attrGet("href")), texts))
        body = markdown.renderer.render(tokens, markdown.options, {})
        body = body.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")
        sections.append(f'<section id="{name}">\n{body}</section>')
        inner = f"<ul>{''.join(parts)}</ul>" if parts else ""
        contents.append(f'<li><a href="#{name}">{escape(title)}</a>{inner}</li>')
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>plugsamp: the guide</title><style>\n{STYLE}</style></head>\n<body>"
        f'<nav aria-label="Contents"><ul>{"".join(contents)}</ul></nav>\n'
        f"<main>{''.join(sections)}</main></body></html>\n"
    )


def slug(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _inside(name: str, target: str, texts: dict[str, str]) -> str:
    page, _, fragment = target.partition("#")
    if page and page.removesuffix(".md") not in texts:
        return target
    page = page.removesuffix(".md") or name
    return f"#{page}-{fragment}" if fragment else f"#{page}"
