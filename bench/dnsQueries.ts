/** Queries a DNS server: one query at a time, or with dnsperf as fast as possible. */
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { promisify } from "node:util";
import { until } from "@sitewright/e2e/until.ts";

const run = promisify(execFile);

/** Encodes a query in dnsperf's format (`name type`) as a packet. */
function encodeQuery(query: string, id: number): Buffer {
  const [name = "", type] = query.split(" ");
  const code = { A: 1, MX: 15, AAAA: 28 }[type ?? ""] ?? 1;
  const labels = name.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)]));
  const header = Buffer.from([id >> 8, id & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, code, 0, 1])]);
}

/** Returns the latency of each query, in milliseconds. */
export async function querySequentially(port: number, queries: readonly string[]): Promise<number[]> {
  const socket = createSocket("udp4");
  const waits: number[] = [];
  for (const [index, query] of queries.entries()) {
    const packet = encodeQuery(query, index & 0xffff);
    const startedAt = performance.now();
    const answered = once(socket, "message");
    socket.send(packet, port, "127.0.0.1");
    await answered;
    waits.push(performance.now() - startedAt);
  }
  socket.close();
  return waits;
}

/** Resolves when the server answers the query without an error. */
export async function untilServing(port: number, query: string): Promise<void> {
  await until(
    async () => {
      const socket = createSocket("udp4");
      const answered = once(socket, "message", { signal: AbortSignal.timeout(200) });
      socket.send(encodeQuery(query, 1), port, "127.0.0.1");
      const [answer] = await answered.finally(() => socket.close());
      if (!Buffer.isBuffer(answer) || (answer.readUInt16BE(2) & 0xf) !== 0) throw new Error("It does not answer yet");
    },
    { deadlineSeconds: 120, intervalMilliseconds: 5 },
  );
}

export interface Rate {
  readonly perSecond: number;
  /** Share of lost queries, 0 to 1. */
  readonly lost: number;
}

/** Runs dnsperf with the queries in `file`. Returns null if it is not installed. */
export async function measureThroughput(port: number, file: string, seconds: number): Promise<Rate | null> {
  const parameters = ["-s", "127.0.0.1", "-p", `${port}`, "-d", file, "-l", `${seconds}`, "-c", "4", "-q", "100"];
  try {
    const { stdout } = await run("dnsperf", parameters);
    const find = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? Number.NaN);
    return { perSecond: find(/Queries per second:\s+([\d.]+)/), lost: find(/Queries lost:.*\(([\d.]+)%\)/) / 100 };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
