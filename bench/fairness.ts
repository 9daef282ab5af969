/**
 * How much one company can harm another. A victim's visitors, API clients and WP-CLI commands are measured alone and next to
 * each attack of `e2e/attacks.ts`, and next to all attacks together, in alternating rounds. No request of the victim may
 * fail, and no p99 may be more than twice as long as alone.
 *
 * The process that attacks has the lowest priority, because real attackers have their own processors.
 */
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { attacks } from "@sitewright/e2e/attacks.ts";
import { addAttacker, under, type Victim, victimOf } from "@sitewright/e2e/hostileCompany.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { duration, type Figure } from "./report.ts";
import { percentile, timed } from "./statistics.ts";

const attackerSites = 4;
/** How often each thing is done in a round. Absent: `usualCount`. */
const counts: Readonly<Record<string, number>> = { "API write": 20, "WP-CLI command": 6 };
const usualCount = 50;
/** Between two requests of the victim. */
const pauseMilliseconds = 50;
const maxRatio = 2;

interface Measured {
  /** Milliseconds, by what the victim did. */
  readonly p99: Readonly<Record<string, number>>;
  readonly failures: number;
  readonly requests: number;
}

async function measure(victim: Victim): Promise<Measured> {
  const p99: Record<string, number> = {};
  let failures = 0;
  let requests = 0;
  for (const [name, act] of Object.entries(victim)) {
    const waits: number[] = [];
    for (let sent = 0; sent < (counts[name] ?? usualCount); sent += 1) {
      const { milliseconds, value } = await timed(() => act().catch(() => false));
      waits.push(milliseconds);
      requests += 1;
      if (!value) failures += 1;
      await delay(pauseMilliseconds);
    }
    p99[name] = percentile(waits, 0.99);
  }
  return { p99, failures, requests };
}

function figuresOf(attack: string, alone: Measured, attacked: Measured): Figure[] {
  const ratios = Object.entries(attacked.p99).map(([what, p99]) => ({ what, p99, before: alone.p99[what] ?? p99 }));
  const worst = ratios.toSorted((one, other) => other.p99 / other.before - one.p99 / one.before)[0];
  if (worst === undefined) throw new Error("Nothing was measured");
  const ratio = worst.p99 / worst.before;
  const { failures, requests } = attacked;
  return [
    {
      name: `next to ${attack}: largest p99, compared with alone`,
      measured: `${ratio.toFixed(2)} times (${worst.what})`,
      target: `≤ ${maxRatio} times`,
      isMet: ratio <= maxRatio,
      reference: ratios.map(({ what, p99, before }) => `${what} ${duration(before)} → ${duration(p99)}`).join(", "),
    },
    {
      name: `next to ${attack}: failed requests`,
      measured: `${failures} of ${requests}`,
      target: "0",
      isMet: failures === 0,
    },
  ];
}

/** Processes that each use a processor, at the same priority as the installation. */
const busyProcesses = 20;
const sitesAtOnce = 10;

/** Load makes things late and never makes them fail. */
async function measureBusyMachine(installation: Installation): Promise<Figure> {
  const busy = Array.from({ length: busyProcesses }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  try {
    const names = Array.from({ length: sitesAtOnce }, (_, index) => `On a busy machine ${index + 1}`);
    const { milliseconds, value } = await timed(() =>
      Promise.allSettled(names.map((display_name) => createSite(installation, { display_name }))),
    );
    const made = value.filter(({ status }) => status === "fulfilled").length;
    return {
      name: `${sitesAtOnce} sites at once, next to ${busyProcesses} processes that never pause`,
      measured: `${made} in ${duration(milliseconds)}`,
      target: String(sitesAtOnce),
      isMet: made === sitesAtOnce,
    };
  } finally {
    for (const child of busy) child.kill();
  }
}

/** `folder` is the clone that the installation runs in. `ready` resolves when the machine is idle. */
export async function measureFairness(
  installation: Installation,
  folder: string,
  ready: () => Promise<void>,
  log: (line: string) => void,
): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Victim", site_title: "Victim" });
  const attacker = await addAttacker(installation, folder, attackerSites);
  const victim = victimOf(installation, site);
  const figures = [await measureBusyMachine(installation)];
  const rounds = [...Object.keys(attacks).map((name) => [name]), Object.keys(attacks)];
  for (const names of rounds) {
    const attack = names.length === 1 ? (names[0] ?? "") : "all attacks together";
    await ready();
    const alone = await measure(victim);
    const attacked = await under(attacker, names, () => measure(victim));
    const [latency, failures] = figuresOf(attack, alone, attacked);
    if (latency === undefined || failures === undefined) throw new Error("Nothing was measured");
    log(`  ${attack}: ${latency.measured}; ${failures.measured} failed; ${latency.reference}`);
    figures.push(latency, failures);
  }
  return figures;
}
