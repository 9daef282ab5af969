/**
 * `cacheClient.ts <port> <milliseconds> <path>`: requests one URL from 50 connections without a pause. Sends the
 * numbers of responses and failures and the p99 latency over IPC.
 */
import autocannon from "autocannon";

const [port = "", milliseconds = "", path = "/"] = process.argv.slice(2);
const result = await autocannon({
  url: `http://127.0.0.1:${port}${path}`,
  connections: 50,
  duration: Number(milliseconds) / 1_000,
  headers: { host: "site.localhost", accept: "text/html", "accept-encoding": "br" },
});
process.send?.({ responses: result["2xx"], failures: result.errors + result.non2xx, p99: result.latency.p99 });
