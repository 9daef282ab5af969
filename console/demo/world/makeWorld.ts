/** Makes the world that the demo begins with. */
import { demoLabels, demoSites } from "./demoSites.ts";
import { idOf } from "./ids.ts";
import { pastActivity, pastOperations } from "./past.ts";
import { demoInvitations, demoKeys, demoPeople, demoSessions } from "./people.ts";
import type { Clock, World } from "./world.ts";
import { demoZones } from "./zones.ts";

/** `clock`: that of the browser, or a faster one. */
export function makeWorld(clock: Clock): World {
  const now = clock.now();
  const sites = demoSites(now);
  const people = demoPeople(now);
  const sessions = demoSessions(now);
  return {
    clock,
    company: { id: idOf("company"), name: "Meadow Web Studio", requiresSecondFactor: false },
    ...{ sites, people, sessions },
    deletedSites: [],
    deletedEnvironments: [],
    labels: demoLabels(),
    invitations: demoInvitations(now),
    keys: demoKeys(now),
    sessionId: sessions[0]?.id ?? null,
    operations: pastOperations(sites, now),
    activity: pastActivity(sites, people, now),
    zones: demoZones(sites, now),
    rollouts: [],
    listeners: new Set(),
    lastNumber: 10_000,
  };
}

export const browserClock: Clock = {
  now: Date.now,
  later: (milliseconds, work) => void setTimeout(work, milliseconds),
};
