# SPDX-License-Identifier: GPL-3.0-or-later
"""faulty.py PORT SERVER-PORT FAULT...: passes HTTP requests on to a server of this machine. Inserts of
rows fail, one after the other, as the faults say; those after the last one go well, and so does all else.
	ok      nothing
	lose    the server does it, and the client is not told
	double  the server does it twice
	cut     the server is given half of it, then the line is cut
	busy    the client is told to come again
	kill=N  the process N is killed when half of it has been sent
	hang    the client waits for ever
	garbage the client is told that it is done, which it is not
Each is printed when it happens."""
import http.client, os, signal, socket, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, server, faults = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
lock = threading.Lock()


class Line(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def forward(self, body):
        line = http.client.HTTPConnection("127.0.0.1", server)
        line.request("POST", self.path, body, {k: v for k, v in self.headers.items() if k.lower() == "authorization"})
        got = line.getresponse()
        return got.status, got.read()

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def half(self, body, then=lambda: None):
        line = socket.create_connection(("127.0.0.1", server))
        head = "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nAuthorization: %s\r\n\r\n" % (
            self.path, len(body), self.headers["Authorization"])
        line.sendall(head.encode() + body[: len(body) // 2])
        time.sleep(0.2)
        then()
        line.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fault = "ok"
        if "INSERT" in self.path and "meta" not in self.path:
            with lock:
                fault = faults.pop(0) if faults else "ok"
            print(fault, flush=True)
        if fault == "hang":
            time.sleep(3600)
        if fault == "double":
            self.forward(body)
        if fault == "busy":
            return self.answer(500, b"Code: 202, e.displayText() = DB::Exception: Too many simultaneous queries\n")
        if fault == "garbage":
            return self.answer(200, b"")
        if fault == "cut":
            self.half(body)
        if fault.startswith("kill="):
            self.half(body, lambda: os.kill(int(fault[5:]), signal.SIGKILL))
        if fault == "lose":
            self.forward(body)
        if fault not in ("ok", "double"):
            self.close_connection = True
            return
        try:
            self.answer(*self.forward(body))
        except OSError:
            self.close_connection = True


ThreadingHTTPServer(("127.0.0.1", port), Line).serve_forever()
