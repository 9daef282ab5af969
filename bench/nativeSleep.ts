/** Native sites that sleep, which means that they have no process: how long they take to wake up, and the memory that they need. */
import type { Installation } from "@sitewright/e2e/installation.ts";
import { descendants } from "@sitewright/e2e/processes.ts";
import { type CreatedSite, createSite } from "@sitewright/e2e/sites.ts";
import { untilIdle } from "./machine.ts";
import { memoryAtRest, untilAllSleep } from "./memory.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
import { secondsBetween, spentByProcesses } from "./serverProcess.ts";
import { median, timed } from "./statistics.ts";

/** The targets for a page of the playground that takes so many milliseconds. */
const slowMachine = { page: 231, wake: 700 };
const fastMachine = { page: 110, wake: 300 };
const idleSeconds = 5;
const wantedSleepers = 300;
const maxSleepersBytes = 300e6;
/** Meanwhile as many sites as possible are created, at most `wantedSleepers`. */
const creationSeconds = 100;
const creationsAtOnce = 4;

/** The target on a machine where a page of the playground takes so many milliseconds. */
function maxWakeMilliseconds(page: number): number {
  if (page >= slowMachine.page) return (slowMachine.wake / slowMachine.page) * page;
  if (page <= fastMachine.page) return (fastMachine.wake / fastMachine.page) * page;
  const steps = (page - fastMachine.page) / (slowMachine.page - fastMachine.page);
  return fastMachine.wake + steps * (slowMachine.wake - fastMachine.wake);
}

/** Requests a page that no cache has. Returns the milliseconds. */
async function loadPage(installation: Installation, { address }: Pick<CreatedSite, "address">): Promise<number> {
  const { value, milliseconds } = await timed(() => installation.visit(`${address}/?visit=${performance.now()}`));
  if (value.status !== 200) throw new Error(`${address} answered ${value.status}`);
  return milliseconds;
}

interface Measured {
  readonly milliseconds: number;
  /** Processor time of all processes, in milliseconds. */
  readonly processor: number;
}

/** Like `loadPage`, with the processor time. */
async function loadMeasured(installation: Installation, site: Pick<CreatedSite, "address">): Promise<Measured> {
  const spent = async () => {
    const processes = await descendants(installation.supervisor.pid ?? 0);
    return spentByProcesses(processes.map(({ id }) => id));
  };
  const before = await spent();
  const milliseconds = await loadPage(installation, site);
  return { milliseconds, processor: 1_000 * secondsBetween(before, await spent()) };
}

/** The first page of each of these sites when it sleeps, in turns with a page of the playground, which is awake. */
export async function measureWake(
  installation: Installation,
  sleepers: readonly Pick<CreatedSite, "address">[],
  playground: CreatedSite,
  adminSocket: string,
): Promise<Figure> {
  await untilAllSleep(adminSocket);
  const [wakes, pages]: [Measured[], Measured[]] = [[], []];
  for (const sleeper of sleepers) {
    await loadPage(installation, playground);
    pages.push(await loadMeasured(installation, playground));
    await untilIdle(idleSeconds);
    wakes.push(await loadMeasured(installation, sleeper));
  }
  const times = (all: readonly Measured[]) => all.map(({ milliseconds }) => milliseconds);
  const processor = (all: readonly Measured[]) => duration(median(all.map(({ processor }) => processor)));
  const page = median(times(pages));
  return atMost(
    `first page of a sleeping native site, p50 of ${sleepers.length}`,
    median(times(wakes)),
    maxWakeMilliseconds(page),
    `page of the playground, awake: ${duration(page)}; slowest: ${duration(Math.max(...times(wakes)))}; ` +
      `processor time of all processes: ${processor(wakes)}, of the playground's page: ${processor(pages)}`,
  );
}

/** The memory of sites that have been visited and sleep. */
export async function measureSleepers(
  installation: Installation,
  region: string,
  adminSocket: string,
): Promise<Figure> {
  await untilAllSleep(adminSocket);
  const before = await memoryAtRest(installation);
  const count = await addSleepers(installation, region);
  await untilAllSleep(adminSocket);
  const after = await memoryAtRest(installation);
  const scaled = (Math.max(0, after - before) / count) * wantedSleepers;
  return atMostBytes(
    `memory of ${wantedSleepers} sleeping native sites${count < wantedSleepers ? `, from that of ${count}` : ""}`,
    scaled,
    maxSleepersBytes,
    `all processes without them: ${megabytes(before)}, with them: ${megabytes(after)}`,
  );
}

/** Creates sites and requests a page of each. Returns their number. */
async function addSleepers(installation: Installation, region: string): Promise<number> {
  const end = performance.now() + creationSeconds * 1_000;
  let started = 0;
  const add = async () => {
    while (started < wantedSleepers && performance.now() < end) {
      started += 1;
      await loadPage(installation, await createSite(installation, { display_name: `Sleeper ${started}`, region }));
    }
  };
  await Promise.all(Array.from({ length: creationsAtOnce }, add));
  return started;
}
