/**
 * Visitors who ask for one address as fast as they get it, in a process of their own. Says how many answers they got, of which
 * how many were none, and how long the slowest hundredth took. `cacheClient.ts <port> <milliseconds> <path>`
 */
import autocannon from "autocannon";

const [port = "", milliseconds = "", path = "/"] = process.argv.slice(2);
const result = await autocannon({
  url: `http://127.0.0.1:${port}${path}`,
  connections: 50,
  duration: Number(milliseconds) / 1_000,
  headers: { host: "site.localhost", accept: "text/html", "accept-encoding": "br" },
});
process.send?.({ answers: result["2xx"], failures: result.errors + result.non2xx, p99: result.latency.p99 });
