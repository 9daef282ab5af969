/** Runs the operations of a world with the real engine, in this process. */

import { startEngine } from "../operations/engine/engine.ts";
import { type Harness, openHarness } from "../operations/faults/testing/crashHarness.ts";
import { silentLog, testBackoffs } from "./engine.ts";
import { type Fault, withFaults } from "./faults.ts";
import type { World } from "./world.ts";

/** Runs `work` while an engine runs the operations that it submits, all with the same `fault`. */
export async function withEngine<T>(
  world: World,
  work: (harness: Harness) => Promise<T>,
  fault: Fault = {},
): Promise<T> {
  await using harness = await openHarness(world);
  const engine = await startEngine({
    url: world.facts.databaseUrl,
    database: world.own.database,
    notifications: harness.notifications,
    sealer: harness.sealer,
    definitions: Object.values(harness.definitions).map((definition) => withFaults(definition, () => fault)),
    log: silentLog,
    backoffs: testBackoffs,
  });
  try {
    return await work(harness);
  } finally {
    await engine.stop();
  }
}
