"""`bazel run //probes:serve`: shows the HTML report in a browser, from this machine only."""

import argparse
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cachetree_report import html_format
from cachetree_report.columns import COLUMNS, DEFAULT
from cachetree_report.releases import Release, ReportError, read, read_yanked
from cachetree_report.table import build

HOST = "127.0.0.1"


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="bazel run //probes:serve --")
    parser.add_argument("--port", type=int, default=0, help="a free one if not given")
    parser.add_argument("--facts", nargs="+", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--yanked", type=Path, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        releases = read(options.facts, read_yanked(options.yanked))
        server = ThreadingHTTPServer((HOST, options.port), _handler(releases))
    except (ReportError, OSError, OverflowError) as error:
        print(f"serve: {error}", file=sys.stderr)
        return 2
    print(f"The report is at http://{HOST}:{server.server_port}/ until you press Ctrl-C.", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return 0


def _handler(releases: Sequence[Release]) -> type[BaseHTTPRequestHandler]:
    columns = [column for column in COLUMNS if column.key in DEFAULT]
    page = html_format.render(build("DynamicCache", columns, releases)).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path.split("?")[0] in ("/", "/index.html")
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page if found else b"Nothing here; the report is at /.")

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: the terminal shows the address and no more."""

    return Handler


if __name__ == "__main__":
    sys.exit(main())
