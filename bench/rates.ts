/** Compares servers by the responses that each sends per second of its processor time, in alternating rounds. */
import { child, messageFrom, processorSeconds, type ServerProcess } from "./serverProcess.ts";
import { median } from "./statistics.ts";

export const rateRounds = 5;
const roundMilliseconds = 3_000;

interface Load {
  readonly responses: number;
  readonly failures: number;
  readonly p99: number;
}

/** Medians. */
export interface Rate {
  /** Per second of the server's processor time. */
  readonly responses: number;
  /** In milliseconds, with 50 concurrent visitors. */
  readonly p99: number;
}

function isLoad(message: unknown): message is Load {
  return typeof message === "object" && message !== null && "responses" in message && "p99" in message;
}

async function load({ port, pid }: ServerProcess, path: string): Promise<Rate> {
  const before = processorSeconds(pid);
  const message = await messageFrom(child("cacheClient.ts", [String(port), String(roundMilliseconds), path]));
  if (!isLoad(message) || message.failures > 0) throw new Error(`Some requests failed: ${JSON.stringify(message)}`);
  return { responses: message.responses / (processorSeconds(pid) - before), p99: message.p99 };
}

/** Returns rates in the order of the servers. The first round warms up and is not counted. */
export async function compareRates(servers: readonly ServerProcess[], path: string): Promise<readonly Rate[]> {
  const rates = servers.map((): Rate[] => []);
  for (let round = 0; round <= rateRounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const rate = await load(server, path);
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map((all) => ({
    responses: median(all.map(({ responses }) => responses)),
    p99: median(all.map(({ p99 }) => p99)),
  }));
}
