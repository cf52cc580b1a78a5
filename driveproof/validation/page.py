"""Our own offline pages: escaped, self-contained, nothing loaded from the network."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c62828; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; } .quiet { opacity: .7; }
figure { margin: 1rem 0; } figure svg, figure img { max-width: 100%; height: auto; }
figcaption { opacity: .75; } pre { background: var(--soft); padding: .8rem; overflow-x: auto; white-space: pre-wrap; }
code { font-size: .92em; overflow-wrap: anywhere; }
""".strip()


def render_page(room: str, template: str, **values: Any) -> str:
    """Render ``driveproof/<room>/templates/<template>``: everything is escaped, ``style`` is inlined.

    Parameters
    ----------
    room
        Package that owns the template.
    template
        File name of a Jinja template.
    """
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    folder = files("driveproof") / room / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page: str = environment.get_template(template).render(style=Markup(STYLE), **values)
    return page
