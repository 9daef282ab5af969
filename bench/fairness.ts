/**
 * How much one company can harm another. A victim's visitors, API clients and WP-CLI commands are measured alone now and
 * then, next to each attack of `e2e/attacks.ts`, and next to all attacks together. No request of the victim may
 * fail, and no p99 may be more than twice as long as alone.
 *
 * The process that attacks uses a quarter of a processor, and this one has the highest priority, because real attackers and clients
 * have their own processors.
 */
import { fork } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { attacks } from "@sitewright/e2e/attacks.ts";
import { addAttacker, under, type Victim, victimOf } from "@sitewright/e2e/hostileCompany.ts";
import type { Installation } from "@sitewright/e2e/installation.ts";
import { useHighestPriority } from "@sitewright/e2e/priority.ts";
import { createSite } from "@sitewright/e2e/sites.ts";
import { duration, type Figure } from "./report.ts";
import { percentile, timed } from "./statistics.ts";

const attackerSites = 4;
/** How often each thing is done in a round: fast ones more often, so that their p99 is not one of the two slowest of all. */
const counts: Readonly<Record<string, number>> = {
  "cached page": 300,
  "API read": 300,
  "API write": 200,
  "WP-CLI command": 6,
};
const usualCount = 100;
/** Between two requests of the victim. */
const pauseMilliseconds = 20;
const maxRatio = 2;
/** The victim is measured alone before every so many attacks. */
const attacksPerRoundAlone = 6;

interface Measured {
  /** Milliseconds, by what the victim did. */
  readonly waits: Readonly<Record<string, readonly number[]>>;
  readonly failures: number;
  readonly requests: number;
  /** Attacks that reached nothing, so that the round says little. */
  readonly idle?: readonly string[];
}

async function measure(victim: Victim): Promise<Measured> {
  const waits: Record<string, readonly number[]> = {};
  let failures = 0;
  let requests = 0;
  for (const [what, act] of Object.entries(victim)) {
    const measured: number[] = [];
    // The command before may have emptied the page cache, which is not what the attack does.
    if (!(await act().catch(() => false))) failures += 1;
    requests += 1;
    for (let sent = 0; sent < (counts[what] ?? usualCount); sent += 1) {
      const { milliseconds, value } = await timed(() => act().catch(() => false));
      measured.push(milliseconds);
      requests += 1;
      if (!value) failures += 1;
      await delay(pauseMilliseconds);
    }
    waits[what] = measured;
  }
  return { waits, failures, requests };
}

/** The p99 of everything that was measured in these rounds. */
function p99Of(rounds: readonly Measured[], what: string): number {
  return percentile(
    rounds.flatMap(({ waits }) => waits[what] ?? []),
    0.99,
  );
}

function figuresOf(attack: string, alone: readonly Measured[], attacked: Measured): Figure[] {
  const ratios = Object.keys(attacked.waits).map((what) => {
    const [before, p99] = [p99Of(alone, what), p99Of([attacked], what)];
    return { what, before, p99, ratio: p99 / before };
  });
  const [worst] = ratios.toSorted((one, other) => other.ratio - one.ratio);
  if (worst === undefined) throw new Error("Nothing was measured");
  const { failures, requests, idle = [] } = attacked;
  return [
    ...idle.map((name) => ({
      name: `next to ${attack}`,
      measured: `${name}: reached nothing`,
      target: "",
      isMet: false,
    })),
    {
      name: `next to ${attack}: largest p99, compared with alone`,
      measured: `${worst.ratio.toFixed(2)} times (${worst.what})`,
      target: `≤ ${maxRatio} times`,
      isMet: worst.ratio <= maxRatio,
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
const busyMachine = fileURLToPath(new URL("busyMachine.ts", import.meta.url));
const sitesAtOnce = 10;

/** Load makes things late and never makes them fail. */
async function measureBusyMachine(installation: Installation): Promise<Figure> {
  // In its own session: this one may have another priority.
  const busy = fork(busyMachine, [String(busyProcesses)], { detached: true });
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
    busy.disconnect();
  }
}

const together = "all attacks together";

/** The names that `--attack` takes: every attack alone, and all together. */
export const rounds = [...Object.keys(attacks), together];

interface FairnessOptions {
  /** The clone that the installation runs in. */
  readonly folder: string;
  /** Resolves when the machine is idle. */
  readonly ready: () => Promise<void>;
  /** Names of `rounds`; empty: all. */
  readonly chosen: readonly string[];
  readonly log: (line: string) => void;
}

export async function measureFairness(
  installation: Installation,
  { folder, ready, chosen, log }: FairnessOptions,
): Promise<Figure[]> {
  const site = await createSite(installation, { display_name: "Victim", site_title: "Victim" });
  const attacker = await addAttacker(installation, folder, attackerSites);
  const victim = victimOf(installation, site);
  const busyMachine = await measureBusyMachine(installation);
  useHighestPriority();
  const alone: Measured[] = [];
  const attacked: { readonly attack: string; readonly measured: Measured }[] = [];
  for (const [index, attack] of (chosen.length > 0 ? chosen : rounds).entries()) {
    await ready();
    if (index % attacksPerRoundAlone === 0) alone.push(await measure(victim));
    const names = attack === together ? Object.keys(attacks) : [attack];
    const measured = await under(attacker, names, async (missing) => ({ ...(await measure(victim)), idle: missing() }));
    attacked.push({ attack, measured });
    for (const { name, measured: shown } of figuresOf(attack, alone, measured)) log(`  ${name}: ${shown}`);
  }
  return [busyMachine, ...attacked.flatMap(({ attack, measured }) => figuresOf(attack, alone, measured))];
}
