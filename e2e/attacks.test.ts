/**
 * The short form of the attacks: all at once, for as long as a victim needs to do everything a few times. The long form
 * measures each of them: `npm run bench -- fairness`.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Attacker, attacks } from "./attacks.ts";
import { addAttacker, under, type Victim, victimOf } from "./hostileCompany.ts";
import { createFolder, type Installation, startHere, type TestFolder } from "./installation.ts";
import { createSite } from "./sites.ts";

const repository = join(import.meta.dirname, "..");
const repetitions = 2;

let home: TestFolder;
let installation: Installation;
let attacker: Attacker;
let victim: Victim;

beforeAll(async () => {
  home = await createFolder();
  installation = await startHere(home.folder, { SITEWRIGHT_MAX_WORKERS: "4" });
  victim = victimOf(installation, await createSite(installation, { display_name: "Victim", site_title: "Victim" }));
  attacker = await addAttacker(installation, repository, 2);
});

afterAll(async () => {
  await installation?.stop();
  await home?.remove();
});

test("a company that attacks in every way at once makes nothing of another company fail", async () => {
  const failed: string[] = [];
  await under(attacker, Object.keys(attacks), async (missing) => {
    for (let count = 0; count < repetitions; count += 1) {
      for (const [what, act] of Object.entries(victim)) if (!(await act())) failed.push(what);
    }
    await vi.waitUntil(() => missing().length === 0, { timeout: 120_000 }).catch(() => undefined);
    expect(missing(), "attacks that reached nothing").toEqual([]);
  });
  expect(failed).toEqual([]);
}, 600_000);
