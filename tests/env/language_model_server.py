"""A service for language models in a thread, which answers by a function."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[list[dict[str, str]]], str | int | bytes | float]
"""From messages to an answer; a whole number is a status, bytes a body, a float seconds to hang."""


class Service:
    """What a running service has been asked, and where it is."""

    def __init__(self, url: str, requests: list[dict[str, Any]], headers: list[Any]) -> None:
        self.url, self.requests, self.headers = url, requests, headers


@contextmanager
def serving(answer: Answer) -> Iterator[Service]:
    requests: list[dict[str, Any]] = []
    headers: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            requests.append({"path": self.path, **body})
            headers.append(self.headers)
            found = answer(body["messages"])
            if isinstance(found, float):
                time.sleep(found)
                return
            if isinstance(found, int):
                self.send_response(found)
                self.send_header("Retry-After", "3")
                self.send_header("Location", "/elsewhere")  # read if the status is a redirect's
                self.end_headers()
                self.wfile.write(b"no such luck")
                return
            self.send_response(200)
            self.end_headers()
            self.wfile.write(found if isinstance(found, bytes) else completion(found))

        def do_GET(self) -> None:
            headers.append(self.headers)
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Service(f"http://127.0.0.1:{server.server_port}/v1", requests, headers)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
