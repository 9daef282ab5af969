/**
 * Hash chains of the activity log, one per company and one for the operator. The hash of a seal covers the previous seal's
 * hash, the seal itself and its entry, so no entry can be changed, removed or inserted without changing every later hash. The
 * newest hashes are also stored outside the database (`heads.ts`), where someone with access only to the database can't
 * replace them.
 *
 * An entry is sealed when it is written and again when its action ends. Only the second seal covers the outcome.
 */
import { createHash } from "node:crypto";
import type { EntryRow, SealRow } from "../store/company/activitySeals.ts";

/** A position in a chain: the sequence number of a seal, and its hash as 64 hexadecimal digits. */
export interface Link {
  readonly sequence: number;
  readonly hash: string;
}

/** The position before the first seal. */
export const origin: Link = { sequence: 0, hash: "0".repeat(64) };

export type Seal = Pick<SealRow, "chain" | "sequence" | "activity_id" | "stage" | "sealed_at">;

/** The hash of a seal: SHA-256 of the previous hash and, as JSON, the seal and its entry. */
export function hashOf(previous: string, seal: Seal, entry: EntryRow): Buffer {
  const { chain, sequence, stage, sealed_at } = seal;
  const text = JSON.stringify([1, chain, sequence, stage, sealed_at.getTime(), ...canonical(entry, stage)]);
  return createHash("sha256").update(Buffer.from(previous, "hex")).update(text).digest();
}

/** The values that a seal covers, in a fixed order. */
function canonical(entry: EntryRow, stage: SealRow["stage"]): unknown[] {
  const parameters = Object.entries(entry.parameters).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const action = [entry.id, entry.company_id, entry.site_id, entry.category, entry.type, parameters];
  const client = [entry.ip_address, entry.browser_name, entry.browser_version, entry.os_name];
  const user = [entry.user_id, entry.user_role, entry.user_full_name, entry.user_first_name];
  const key = [entry.api_key_id, entry.api_key_name];
  const begun = [entry.created_at.getTime(), ...action, ...client, ...user, ...key];
  return stage === "begun" ? begun : [...begun, entry.is_done, entry.has_failed, entry.has_warning, entry.public_error];
}
