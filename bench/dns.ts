/**
 * Our DNS server with ten thousand zones: how soon it answers after its start, what it holds in memory, how many answers
 * it gives in a second and how long one takes; beside Knot with the same zones, where the machine has it. Both answer on one
 * thread, which leaves the other processor to whoever asks.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { dnsNodeOptions } from "@sitewright/dns/nodeOptions.ts";
import { writeTable } from "@sitewright/dns/tableText.ts";
import { askForSeconds, askInTurn, type Rate, untilAnswered } from "./dnsAsk.ts";
import { howToGetKnot, startKnot } from "./dnsKnot.ts";
import { makeTable, questionsOf, recordsPerZone, zoneCount, zoneName } from "./dnsZones.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
import { median, percentile, timed } from "./statistics.ts";

const server = fileURLToPath(new URL("./dnsServer.ts", import.meta.url));
const mostStartMilliseconds = 2_000;
const mostBytes = 300_000_000;
const starts = 3;
const inTurn = 5_000;
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
  await untilAnswered(port, `${zoneName(zoneCount - 1)} A`);
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

async function measure(port: number, questions: readonly string[], file: string): Promise<Measured> {
  const some = Array.from({ length: inTurn }, (_, index) => questions[(index * 7_919) % questions.length] ?? "");
  await askInTurn(port, some);
  return { waits: await askInTurn(port, some), rate: await askForSeconds(port, file, rateSeconds) };
}

const show = ({ waits, rate }: Measured): string => {
  const wait = `p50 ${duration(median(waits))}, p99 ${duration(percentile(waits, 0.99))}`;
  return rate === null
    ? wait
    : `${Math.round(rate.perSecond)} answers/s (${(rate.lost * 100).toFixed(2)} % lost), ${wait}`;
};

function beside(ours: Measured, theirs: Measured | null): Figure {
  const comparison =
    theirs === null
      ? howToGetKnot
      : `knot: ${show(theirs)}${ratio(ours, theirs)}; more would take several processes on one port, or one thread for each processor`;
  return {
    name: `DNS: answers, ${zoneCount} zones`,
    measured: show(ours),
    target: "–",
    isMet: true,
    reference: comparison,
  };
}

function ratio({ rate: ours }: Measured, { rate: theirs }: Measured): string {
  return ours === null || theirs === null
    ? ""
    : `; ours are ${((ours.perSecond / theirs.perSecond) * 100).toFixed(0)} %`;
}

/** `say` is told what comes out on the way. */
export async function measureDns(say: (line: string) => void): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "sw-dns-"));
  try {
    const table = makeTable();
    const tableFile = join(folder, "table.jsonl");
    await writeFile(tableFile, writeTable(table));
    const size = `a table of ${megabytes((await stat(tableFile)).size)}`;
    const questions = table.zones.flatMap((_, number) => questionsOf(number));
    const list = join(folder, "questions");
    await writeFile(list, `${questions.join("\n")}\n`);

    const times: number[] = [];
    for (let count = 1; count < starts; count += 1) {
      const { value, milliseconds } = await timed(() => startOurs(folder));
      times.push(milliseconds);
      await end(value.child);
    }
    const { value: ours, milliseconds } = await timed(() => startOurs(folder));
    times.push(milliseconds);
    const early = await memoryOf(ours);
    say("DNS: every zone is asked …");
    await askInTurn(
      ours.port,
      table.zones.map(({ name }) => `${name} A`),
    );
    const later = await memoryOf(ours);
    const measured = await measure(ours.port, questions, list);
    await end(ours.child);

    say("DNS: knot with the same zones …");
    const knotFolder = join(folder, "knot");
    await mkdir(knotFolder);
    // Ours has just let go of it.
    const knot = await startKnot(knotFolder, ours.port, table);
    if (knot !== null) await untilAnswered(ours.port, `${zoneName(zoneCount - 1)} A`);
    const theirs = knot === null ? null : await measure(ours.port, questions, list);
    if (knot !== null) await end(knot);

    const what = `${zoneCount} zones of ${recordsPerZone} records`;
    return [
      atMost(`DNS: start → answer, ${what}, median of ${starts}`, median(times), mostStartMilliseconds, size),
      atMostBytes(`DNS: memory, ${what}, each asked`, later, mostBytes, `before any was asked: ${megabytes(early)}`),
      beside(measured, theirs),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
