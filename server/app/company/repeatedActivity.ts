/**
 * Entries of the activity log for events that an attacker can repeat at will, such as refused keys and failed logins. Equal
 * events are counted, and become one entry every minute, so they can't flood the log.
 */
import type { ActivityCategory } from "@sitewright/contract/operationKinds.ts";
import { endActivity, recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import { holdCompany } from "@sitewright/server/store/company/companies.ts";
import type { Actor, Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { clientNetwork } from "../traffic/networks.ts";

export interface RepeatableEvent {
  /** Null for the operator's log. */
  readonly companyId: string | null;
  readonly siteId: string | null;
  readonly category: ActivityCategory | "operator";
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly actor: Actor;
  /** Why it failed, or null if it succeeded. */
  readonly publicError: string | null;
}

export interface RepeatedActivity {
  /** Counts events; by default one. Of the actor's IPv6 address only the network is recorded. */
  note(event: RepeatableEvent, count?: number): void;
  /** Writes the entries, except those of deleted companies. Those that can't be written are written the next time. */
  flush(): Promise<void>;
}

/** Different events of a company between two flushes. Further ones of a type count as one, without their details. */
const maxPerCompany = 20;

interface Counted {
  readonly event: RepeatableEvent;
  count: number;
}

export function makeRepeatedActivity(database: Database): RepeatedActivity {
  /** By company, then by event. */
  let counted = new Map<string | null, Map<string, Counted>>();

  function note(given: RepeatableEvent, count = 1): void {
    const event = { ...given, actor: withoutInterface(given.actor) };
    const ofCompany = counted.get(event.companyId) ?? new Map<string, Counted>();
    counted.set(event.companyId, ofCompany);
    const key = JSON.stringify(event);
    const found = ofCompany.get(key);
    if (found !== undefined) found.count += count;
    else if (ofCompany.size < maxPerCompany) ofCompany.set(key, { event, count });
    else noteWithoutDetails(ofCompany, event, count);
  }

  return {
    note,
    flush: async () => {
      if (counted.size === 0) return;
      const written = counted;
      counted = new Map();
      const failures: unknown[] = [];
      for (const [companyId, ofCompany] of written) {
        const entries = [...ofCompany.values()];
        try {
          await writeAll(database, companyId, entries);
        } catch (error) {
          for (const { event, count } of entries) note(event, count);
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

function noteWithoutDetails(ofCompany: Map<string, Counted>, event: RepeatableEvent, count: number): void {
  const publicError = event.publicError === null ? null : "There were too many to list each of them.";
  const withoutDetails = { ...event, ...noDetails, publicError };
  const key = JSON.stringify(withoutDetails);
  const found = ofCompany.get(key);
  if (found === undefined) ofCompany.set(key, { event: withoutDetails, count });
  else found.count += count;
}

const noDetails = { siteId: null, parameters: {}, actor: systemActor };

/** One client usually has all addresses of its network, and could fill the log with them. */
function withoutInterface(actor: Actor): Actor {
  return { ...actor, ipAddress: actor.ipAddress && clientNetwork(actor.ipAddress) };
}

/** One transaction per company, so that no company's entries wait for another's. A deleted company has no log any more. */
async function writeAll(database: Database, companyId: string | null, entries: readonly Counted[]): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    if (companyId !== null && !(await holdCompany(transaction, companyId))) return;
    for (const entry of entries) await write(transaction, entry);
  });
}

async function write(transaction: DatabaseTransaction, { event, count }: Counted): Promise<void> {
  const { publicError, ...entry } = event;
  const parameters = { ...entry.parameters, count: String(count) };
  const id = await recordActivity(transaction, { ...entry, parameters });
  await endActivity(transaction, id, { hasFailed: publicError !== null, publicError });
}
