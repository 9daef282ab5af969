"""Visits a page every 50 ms until SIGTERM, each time over a new connection. Exits with 1 if a visit failed."""
import http.client
import signal
import sys
import threading
import time

visits = []
told_to_end = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: told_to_end.set())


def visit():
    began = time.monotonic()
    try:
        connection = http.client.HTTPConnection("127.0.0.1", 80, timeout=60)
        connection.request("GET", "/", headers={"Host": "demo.sites.example.com", "Connection": "close"})
        response = connection.getresponse()
        body = response.read()
        result = str(response.status) if b"</html>" in body else f"{response.status}, not a whole page"
    except (OSError, http.client.HTTPException) as error:
        result = repr(error)
    visits.append((result, time.monotonic() - began))


threads = []
while not told_to_end.wait(0.05):
    threads.append(threading.Thread(target=visit))
    threads[-1].start()
for thread in threads:
    thread.join()
failed = sorted({result for result, _ in visits if result != "200"})
print(f"  {len(visits)} visits, the longest {max(took for _, took in visits):.1f} s; failures: {', '.join(failed) or 'none'}")
sys.exit(1 if failed else 0)
