/** How many answers each of several servers gives in a second of its processor time, asked in turns. */
import { child, messageFrom, processorSeconds, type ServerProcess } from "./serverProcess.ts";
import { median } from "./statistics.ts";

export const rateRounds = 5;
const roundMilliseconds = 3_000;

interface Load {
  readonly answers: number;
  readonly failures: number;
  readonly p99: number;
}

/** Medians. */
export interface Rate {
  /** For each second of the server's processor time. */
  readonly answers: number;
  /** Milliseconds, of fifty visitors at once. */
  readonly p99: number;
}

function isLoad(said: unknown): said is Load {
  return typeof said === "object" && said !== null && "answers" in said && "p99" in said;
}

async function load({ port, pid }: ServerProcess, path: string): Promise<Rate> {
  const before = processorSeconds(pid);
  const said = await messageFrom(child("cacheClient.ts", [String(port), String(roundMilliseconds), path]));
  if (!isLoad(said) || said.failures > 0) throw new Error(`Not all were answered: ${JSON.stringify(said)}`);
  return { answers: said.answers / (processorSeconds(pid) - before), p99: said.p99 };
}

/** In the order of the servers. The first round is for warming up. */
export async function compareRates(servers: readonly ServerProcess[], path: string): Promise<readonly Rate[]> {
  const rates = servers.map((): Rate[] => []);
  for (let round = 0; round <= rateRounds; round += 1) {
    for (const [index, server] of servers.entries()) {
      const rate = await load(server, path);
      if (round > 0) rates[index]?.push(rate);
    }
  }
  return rates.map((all) => ({
    answers: median(all.map(({ answers }) => answers)),
    p99: median(all.map(({ p99 }) => p99)),
  }));
}
