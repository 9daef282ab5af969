/**
 * Entries of the activity log for events that an attacker can repeat at will, such as refused keys and failed logins. Equal
 * events are counted, and become one entry every minute, so they can't flood the log.
 */
import type { ActivityCategory } from "@sitewright/contract/operationKinds.ts";
import { endActivity, recordActivity, systemActor } from "@sitewright/server/store/company/activity.ts";
import type { Actor, Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";

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
  /** Counts events; by default one. */
  note(event: RepeatableEvent, count?: number): void;
  /** Writes the entries. If that fails, they are written the next time. */
  flush(): Promise<void>;
}

/** Different events of a company between two flushes. Further ones of a type count as one, without their details. */
const maxPerCompany = 200;

interface Counted {
  readonly event: RepeatableEvent;
  count: number;
}

export function makeRepeatedActivity(database: Database): RepeatedActivity {
  /** By company, then by event. */
  let counted = new Map<string | null, Map<string, Counted>>();

  function note(event: RepeatableEvent, count = 1): void {
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
      const entries = [...written.values()].flatMap((ofCompany) => [...ofCompany.values()]);
      try {
        await database.transaction().execute(async (transaction) => {
          for (const entry of entries) await write(transaction, entry);
        });
      } catch (error) {
        for (const { event, count } of entries) note(event, count);
        throw error;
      }
    },
  };
}

function noteWithoutDetails(ofCompany: Map<string, Counted>, event: RepeatableEvent, count: number): void {
  const { type, publicError } = event;
  const key = JSON.stringify([type, publicError]);
  const found = ofCompany.get(key);
  if (found === undefined) ofCompany.set(key, { event: { ...event, ...noDetails }, count });
  else found.count += count;
}

const noDetails = { siteId: null, parameters: {}, actor: systemActor };

async function write(transaction: DatabaseTransaction, { event, count }: Counted): Promise<void> {
  const { publicError, ...entry } = event;
  const parameters = { ...entry.parameters, count: String(count) };
  const id = await recordActivity(transaction, { ...entry, parameters });
  await endActivity(transaction, id, { hasFailed: publicError !== null, publicError });
}
