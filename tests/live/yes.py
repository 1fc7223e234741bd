# SPDX-License-Identifier: GPL-3.0-or-later
"""A server for ispot fleet that says yes to all, and has nothing; it prints its port."""
import http.server

class Yes(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = self.path.encode() + self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.end_headers()
        if b"SELECT" in asked and b"trios" in asked and b"meta" in asked:
            self.wfile.write(b"\0")  # of no application

    do_GET = do_POST

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Yes)
print(server.server_address[1], flush=True)
server.serve_forever()
