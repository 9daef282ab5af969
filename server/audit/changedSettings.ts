/**
 * Records in the operator's log which settings have changed since the last start. Values are kept only as salted hashes, since
 * some are secret.
 */
import { createHmac, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { writeDurableFile } from "../durableFile.ts";
import { recordOperatorAction, systemActor } from "../store/company/activity.ts";
import type { Database } from "../store/database.ts";

const Fingerprints = v.object({ salt: v.string(), hashes: v.record(v.string(), v.string()) });
type Fingerprints = v.InferOutput<typeof Fingerprints>;

interface ChangedSettingsOptions {
  readonly database: Database;
  /** The data folder. */
  readonly data: string;
  /** The settings that differ from their defaults, by name. */
  readonly values: Readonly<Record<string, string>>;
}

/** Writes one entry with the names of all changed settings. Writes none at the first start, or if the record is lost. */
export async function recordChangedSettings({ database, data, values }: ChangedSettingsOptions): Promise<void> {
  const file = join(data, "settings-hashes.json");
  const before = await read(file);
  const salt = before?.salt ?? randomBytes(16).toString("hex");
  const hash = (value: string) => createHmac("sha256", salt).update(value).digest("hex");
  const hashes = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, hash(value)]));
  const changed = before === null ? [] : changedNames(before.hashes, hashes);
  if (before !== null && changed.length === 0) return;
  if (changed.length > 0) {
    const parameters = { settings: changed.join(", ") };
    await database
      .transaction()
      .execute((transaction) =>
        recordOperatorAction(transaction, { type: "changeSettings", parameters, actor: systemActor }),
      );
  }
  await writeDurableFile(file, `${JSON.stringify({ salt, hashes })}\n`);
}

function changedNames(before: Fingerprints["hashes"], after: Fingerprints["hashes"]): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).toSorted();
}

/** Null if the file is missing or damaged. */
async function read(file: string): Promise<Fingerprints | null> {
  const text = await readFile(file, "utf8").catch(() => "");
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Fingerprints), text);
  return parsed.success ? parsed.output : null;
}
