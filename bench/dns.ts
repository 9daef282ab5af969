/**
 * Our DNS server with ten thousand zones: startup time, memory, answers per second and latency, compared with Knot and
 * the same zones if it is installed. Each uses one thread, which leaves the other processor to the clients.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dnsNodeOptions } from "@sitewright/dns/nodeOptions.ts";
import { writeTable } from "@sitewright/dns/tableText.ts";
import { knotInstallHint, startKnot } from "./dnsKnot.ts";
import { measureThroughput, querySequentially, type Rate, untilServing } from "./dnsQueries.ts";
import { makeTable, queriesFor, recordsPerZone, zoneCount, zoneName } from "./dnsZones.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const server = fileURLToPath(new URL("./dnsServer.ts", import.meta.url));
const maxStartMilliseconds = 2_000;
const maxBytes = 300_000_000;
const starts = 3;
const sequentialQueries = 5_000;
const rateSeconds = 5;

interface Ours {
  readonly child: ChildProcess;
  readonly port: number;
}

interface Measured {
  readonly rate: Rate | null;
  readonly waits: readonly number[];
}

async function startOurs(folder: string): Promise<Ours> {
  const child = fork(server, [folder], {
    execArgv: [...dnsNodeOptions],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [{ port }] = await once(child, "message");
  await untilServing(port, `${zoneName(zoneCount - 1)} A`);
  return { child, port };
}

async function memoryOf({ child }: Ours): Promise<number> {
  const answered = once(child, "message");
  child.send("memory");
  const [{ rss }] = await answered;
  return rss;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill();
  await ended;
}

async function measure(port: number, queries: readonly string[], file: string): Promise<Measured> {
  const sample = Array.from(
    { length: sequentialQueries },
    (_, index) => queries[(index * 7_919) % queries.length] ?? "",
  );
  await querySequentially(port, sample);
  return { waits: await querySequentially(port, sample), rate: await measureThroughput(port, file, rateSeconds) };
}

const show = ({ waits, rate }: Measured): string => {
  const wait = `p50 ${duration(median(waits))}, p99 ${duration(percentile(waits, 0.99))}`;
  return rate === null
    ? wait
    : `${Math.round(rate.perSecond)} answers/s (${(rate.lost * 100).toFixed(2)} % lost), ${wait}`;
};

function compare(ours: Measured, theirs: Measured | null): Figure {
  const comparison =
    theirs === null
      ? knotInstallHint
      : `Knot: ${show(theirs)}${ratio(ours, theirs)}; more would need several processes on one port, or one thread per processor`;
  return {
    name: `DNS: answers, ${zoneCount} zones`,
    measured: show(ours),
    target: "–",
    isMet: true,
    reference: comparison,
  };
}

function ratio({ rate: ours }: Measured, { rate: theirs }: Measured): string {
  return ours === null || theirs === null ? "" : `; ours: ${((ours.perSecond / theirs.perSecond) * 100).toFixed(0)} %`;
}

/** `log` gets progress messages. */
export async function measureDns(log: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-dns-"));
  try {
    const table = makeTable();
    const tableFile = join(folder, "table.jsonl");
    await writeFile(tableFile, writeTable(table));
    const size = `table of ${megabytes((await stat(tableFile)).size)}`;
    const queries = table.zones.flatMap((_, number) => queriesFor(number));
    const list = join(folder, "queries");
    await writeFile(list, `${queries.join("\n")}\n`);

    const times: number[] = [];
    for (let count = 1; count < starts; count += 1) {
      const { value, milliseconds } = await timed(() => startOurs(folder));
      times.push(milliseconds);
      await end(value.child);
    }
    const { value: ours, milliseconds } = await timed(() => startOurs(folder));
    times.push(milliseconds);
    const initialMemory = await memoryOf(ours);
    log("DNS: querying every zone …");
    await querySequentially(
      ours.port,
      table.zones.map(({ name }) => `${name} A`),
    );
    const memory = await memoryOf(ours);
    const measured = await measure(ours.port, queries, list);
    await end(ours.child);

    log("DNS: Knot with the same zones …");
    const knotFolder = join(folder, "knot");
    await mkdir(knotFolder);
    // Our server has just released this port.
    const knot = await startKnot(knotFolder, ours.port, table);
    if (knot !== null) await untilServing(ours.port, `${zoneName(zoneCount - 1)} A`);
    const theirs = knot === null ? null : await measure(ours.port, queries, list);
    if (knot !== null) await end(knot);

    const what = `${zoneCount} zones of ${recordsPerZone} records`;
    return [
      atMost(`DNS: start → answer, ${what}, median of ${starts}`, median(times), maxStartMilliseconds, size),
      atMostBytes(`DNS: memory, ${what}, all queried`, memory, maxBytes, `before: ${megabytes(initialMemory)}`),
      compare(measured, theirs),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
