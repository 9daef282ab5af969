/** Records when API keys are used: in memory during requests, and in the database in batches. */
import { recordKeyUse } from "@sitewright/server/store/company/keyUse.ts";
import type { Pool } from "pg";

export interface KeyUse {
  /** Notes that the key was accepted now. Takes no time. */
  note(keyId: string): void;
  /** Writes what was noted. If it fails, the next call writes it too. */
  flush(): Promise<void>;
}

export function makeKeyUse(pool: Pool, now: () => Date = () => new Date()): KeyUse {
  let noted = new Map<string, Date>();
  return {
    note: (keyId) => void noted.set(keyId, now()),
    flush: async () => {
      if (noted.size === 0) return;
      const batch = noted;
      noted = new Map();
      try {
        await recordKeyUse(pool, batch);
      } catch (error) {
        noted = new Map([...batch, ...noted]);
        throw error;
      }
    },
  };
}
