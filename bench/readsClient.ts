/**
 * `readsClient.ts <port> <milliseconds> <path> <headers as JSON>`: requests one URL from 20 connections without a pause. Sends the
 * numbers of responses by status over IPC.
 */
import autocannon from "autocannon";

const [port = "", milliseconds = "", path = "/", headers = "{}"] = process.argv.slice(2);
const { statusCodeStats, errors, latency } = await autocannon({
  url: `http://127.0.0.1:${port}${path}`,
  connections: 20,
  duration: Number(milliseconds) / 1_000,
  headers: JSON.parse(headers),
});
const statuses = Object.entries(statusCodeStats ?? {}).map(([status, { count = 0 }]) => [status, count]);
process.send?.({ statuses: Object.fromEntries(statuses), errors, p99: latency.p99 });
