"""Documents about the machine as they go over the wire, each with the tag by which caches know it."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

JSON = "application/json"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
LISTING = ""
"""The name of the listing among the evidence files."""
PEM_CHAIN = "application/pem-certificate-chain"
"""RFC 8555, section 9.1."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evidence of {domain}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
caption {{ text-align: left; padding-bottom: .5rem; }}
th, td {{ text-align: left; padding: .4rem .8rem .4rem 0; border-bottom: 1px solid #8886; }}
td:nth-child(2), th:nth-child(2) {{ text-align: right; white-space: nowrap; }}
code {{ font-size: .8rem; overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>Evidence of {domain}</h1>
<table>
<caption>The quote binds the checksum file; the checksum file binds account and certificate.</caption>
<thead><tr><th scope="col">File</th><th scope="col">Bytes</th><th scope="col">SHA-256</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""

_ROW = '<tr><td><a href="{name}">{name}</a></td><td>{size}</td><td><code>{digest}</code></td></tr>'


@dataclass(frozen=True)
class Document:
    """A body, and what it is."""

    body: bytes
    media_type: str

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the body in hex."""
        return hashlib.sha256(self.body).hexdigest()

    @property
    def etag(self) -> str:
        """A strong entity tag (RFC 9110, section 8.8.3): equal for equal bytes only."""
        return f'"{self.sha256[:32]}"'


def json_document(value: Mapping[str, object]) -> Document:
    """A JSON object."""
    return Document(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), JSON)


def checksums(files: Mapping[str, Document]) -> Document:
    """What `sha256sum` prints for these files, in their order."""
    return Document("".join(f"{file.sha256}  {name}\n" for name, file in files.items()).encode(), TEXT)


def listing(domain: str, files: Iterable[tuple[str, Document]]) -> Document:
    """An HTML page that links these files."""
    rows = [_ROW.format(name=html.escape(name), size=len(file.body), digest=file.sha256) for name, file in files]
    return Document(_PAGE.format(domain=html.escape(domain), rows="\n".join(rows)).encode(), HTML)
