/** Plugins of many environments: their list, and matching them against a vulnerability feed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { send } from "@sitewright/e2e/http.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { feedRecord } from "@sitewright/server/packages/testing/feed.ts";
import { readRun } from "@sitewright/supervisor/records.ts";
import { type Fleet, withFleet } from "./packagesFleet.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const fleet = { environments: 1_000, plugins: 30 };
/** Enough requests for a meaningful p99. */
const rounds = 150;
const feedBytes = 160_000_000;

const queries = [
  "limit=20",
  "limit=20&offset=100",
  "limit=20&status=inactive",
  "limit=20&column=updatesAvailable&order_by[field]=updates&order_by[order]=descend&offset=10",
  "limit=20&column=vulnerable",
  "limit=20&search=plugin-1",
  "limit=5&order_by[field]=environments&order_by[order]=descend",
];

/** Calls `before` before each request. */
async function measureList({ firstRun }: Installation, variant: string, before: () => Promise<void>): Promise<Figure> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const query of queries) {
      await before();
      const address = `${firstRun.api_url}/company/${firstRun.company_id}/wp-plugins?${query}`;
      const { milliseconds, value } = await timed(() => send("GET", address, { key: firstRun.api_key, agent }));
      if (value.status !== 200) throw new Error(`The list of plugins answered ${value.status}: ${value.text}`);
      times.push(milliseconds);
    }
  }
  agent.destroy();
  const name = `plugins of ${fleet.environments} environments × ${fleet.plugins}, filtered, ordered and paged${variant}, p99 of ${times.length}`;
  const [first = 0] = times;
  const reference = `p50: ${duration(median(times))}, first request: ${duration(first)}`;
  return atMost(name, percentile(times, 0.99), 50, reference);
}

/** Writes a feed as large as a real one. Few of its plugins are installed. Returns the number of records. */
async function writeFeed(file: string): Promise<number> {
  const stream = createWriteStream(file);
  let [bytes, records] = [0, 0];
  const add = async (part: string) => {
    bytes += part.length;
    if (!stream.write(part)) await once(stream, "drain");
  };
  await add("{");
  const description = "An attacker who is not logged in can do more than the site allows. ".repeat(60);
  for (; bytes < feedBytes; records += 1) {
    const slug = records % 100 === 0 ? `plugin-${records % 290}` : `unknown-${records}`;
    const record = { ...feedRecord({ id: `id-${records}`, slug, to: `1.${records % 10}` }), description };
    await add(`${records === 0 ? "" : ","}"id-${records}":${JSON.stringify(record)}`);
  }
  await add("}");
  stream.end();
  await once(stream, "close");
  return records;
}

interface FeedRead {
  readonly milliseconds: number;
  readonly bytes: number;
}

async function measureFeed({ data }: Installation): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-feed-"));
  try {
    const file = join(folder, "feed.json");
    const records = await writeFeed(file);
    const program = join(import.meta.dirname, "packagesFeed.ts");
    const child = spawn(process.execPath, [program, readRun(data)?.database_url ?? "", file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const read: FeedRead = JSON.parse(await text(child.stdout));
    const size = `${records} records in ${megabytes(feedBytes)}`;
    return [
      atMost("vulnerability feed, read and matched against all plugins", read.milliseconds, 10_000, size),
      atMostBytes("– memory of the process that reads it", read.bytes, 300_000_000, "the whole process"),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

export async function measurePackages(installation: Installation, ready: () => Promise<void>): Promise<Figure[]> {
  return withFleet(installation.data, installation.firstRun.company_id, fleet, async ({ updateOne }: Fleet) => {
    await ready();
    const unchanged = await measureList(installation, "", async () => undefined);
    const updated = await measureList(installation, ", one plugin updated before each request", updateOne);
    return [unchanged, updated, ...(await measureFeed(installation))];
  });
}
