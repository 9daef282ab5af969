/** Compares servers by the uncached front pages that each sends per second, in rounds of alternating order. */
import { child, messageFrom } from "./serverProcess.ts";
import { median, percentile } from "./statistics.ts";

const rounds = 3;
const roundMilliseconds = 4_000;
const warmUpMilliseconds = 1_500;

/** A site at a server. */
export interface PageSource {
  readonly port: number;
  /** The name in the Host header. */
  readonly host: string;
}

export interface PageRate {
  /** Median of the rounds. */
  readonly perSecond: number;
  /** Of the requests of all rounds, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Load {
  readonly waits: readonly number[];
  readonly seconds: number;
}

function isLoad(message: unknown): message is Load {
  return typeof message === "object" && message !== null && "waits" in message && "seconds" in message;
}

async function load({ port, host }: PageSource, visitors: number, milliseconds: number): Promise<Load> {
  const message = await messageFrom(child("pageClient.ts", [port, host, visitors, milliseconds].map(String)));
  if (!isLoad(message)) throw new Error(`The client sent ${JSON.stringify(message)}`);
  return message;
}

function rateOf(loads: readonly Load[]): PageRate {
  const waits = loads.flatMap((each) => each.waits);
  return {
    perSecond: median(loads.map((each) => each.waits.length / each.seconds)),
    p50: median(waits),
    p99: percentile(waits, 0.99),
  };
}

/** Returns the rates in the order of the sources. `visitors`: how many load pages at the same time. */
export async function comparePages(sources: readonly PageSource[], visitors: number): Promise<readonly PageRate[]> {
  const loads = new Map(sources.map((source) => [source, [] as Load[]]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % sources.length;
    for (const source of [...sources.slice(first), ...sources.slice(0, first)]) {
      await load(source, visitors, warmUpMilliseconds);
      loads.get(source)?.push(await load(source, visitors, roundMilliseconds));
    }
  }
  return [...loads.values()].map(rateOf);
}
