/** Native sites that sleep, which means that they have no process: how long they take to wake up, and the memory that they need. */
import type { Installation } from "@sitewright/e2e/installation.ts";
import { type CreatedSite, createSite } from "@sitewright/e2e/sites.ts";
import { untilIdle } from "./machine.ts";
import { memoryAtRest, untilAllSleep } from "./memory.ts";
import { atMost, atMostBytes, duration, type Figure, megabytes } from "./report.ts";
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

/** The first page of each of these sites when it sleeps, in turns with a page of the playground, which is awake. */
export async function measureWake(
  installation: Installation,
  sleepers: readonly Pick<CreatedSite, "address">[],
  playground: CreatedSite,
  adminSocket: string,
): Promise<Figure> {
  await untilAllSleep(adminSocket);
  const [wakes, pages]: [number[], number[]] = [[], []];
  for (const sleeper of sleepers) {
    await loadPage(installation, playground);
    pages.push(await loadPage(installation, playground));
    await untilIdle(idleSeconds);
    wakes.push(await loadPage(installation, sleeper));
  }
  const page = median(pages);
  return atMost(
    `first page of a sleeping native site, p50 of ${sleepers.length}`,
    median(wakes),
    maxWakeMilliseconds(page),
    `page of the playground, awake: ${duration(page)}; slowest: ${duration(Math.max(...wakes))}`,
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
