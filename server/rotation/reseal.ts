/** Seals everything again with the newest key in `secrets/key`, in the database and in files. Can be repeated at any time. */
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { apiCertificateFolder } from "../apiCertificate.ts";
import { isTemporaryName, writeDurableFile } from "../durableFile.ts";
import type { KeySource } from "../keyFile.ts";
import { resealSettings } from "../sealedSettings.ts";
import { type Sealer, sealerOf, sealPrefix } from "../sealing.ts";
import type { Database } from "../store/database.ts";
import { dnsGenerations } from "../store/generations.ts";
import { listSealedOtherwise, replaceSealed, sealedColumns } from "../store/sealedValues.ts";

export interface ResealOptions {
  readonly database: Database;
  readonly data: string;
  readonly keys: KeySource;
  /** For each column, to test interruptions. */
  readonly onStep?: (step: string) => void;
}

export interface Resealed {
  readonly count: number;
  /** What still needs an older key. */
  readonly remaining: readonly string[];
}

const batch = 100;
const settingsFiles = ["last-start.json", "run.json", "settings.env"];

export async function resealAll(options: ResealOptions): Promise<Resealed> {
  const sealer = sealerOf(options.keys);
  const parts: Resealed[] = [];
  for (const column of sealedColumns) {
    options.onStep?.(column.name);
    parts.push(await resealColumn(options, sealer, column));
  }
  options.onStep?.("files");
  for (const folder of [join(options.data, "edge", "certificates"), apiCertificateFolder(options.data)]) {
    parts.push(await resealCertificateFiles(folder, sealer));
  }
  parts.push(await resealSettingsFiles(options.data, sealer));
  parts.push(await republishZones(options, sealer));
  return {
    count: parts.reduce((sum, { count }) => sum + count, 0),
    remaining: parts.flatMap(({ remaining }) => remaining),
  };
}

async function resealColumn(
  { database, keys }: ResealOptions,
  sealer: Sealer,
  column: (typeof sealedColumns)[number],
): Promise<Resealed> {
  const prefix = sealPrefix(keys.newest());
  let count = 0;
  let damaged = 0;
  for (let after = ""; ; ) {
    const values = await listSealedOtherwise(database, column, { prefix, after, limit: batch });
    for (const value of values) {
      const text = openOrNull(sealer, value.sealed, value.context);
      if (text === null) damaged += 1;
      else {
        await replaceSealed(database, column, value, sealer.seal(text, value.context));
        count += 1;
      }
    }
    const last = values.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return { count, remaining: damaged === 0 ? [] : [`${damaged} ${column.name} that can't be opened`] };
}

/** Null if no key opens it. */
function openOrNull(sealer: Sealer, sealed: Buffer, context: string): string | null {
  try {
    return sealer.open(sealed, context);
  } catch {
    return null;
  }
}

/** No file takes as long to write. Milliseconds. */
const longestWrite = 3_600_000;

/** Removes a temporary file unless another process may be writing it. */
async function removeLeftover(file: string): Promise<void> {
  const facts = await stat(file).catch(() => null);
  if (facts !== null && Date.now() - facts.mtimeMs > longestWrite) await rm(file, { force: true });
}

async function resealCertificateFiles(folder: string, sealer: Sealer): Promise<Resealed> {
  const remaining: string[] = [];
  let count = 0;
  for (const id of await readdir(folder).catch(() => [])) {
    if (isTemporaryName(id)) {
      await removeLeftover(join(folder, id));
      continue;
    }
    const sealed = await readFile(join(folder, id)).catch(() => null);
    if (sealed === null || sealer.isCurrent(sealed)) continue;
    const context = `edge-certificate:${id}`;
    const text = openOrNull(sealer, sealed, context);
    if (text === null) remaining.push(`the file ${join(folder, id)}, which can't be opened`);
    else {
      await writeDurableFile(join(folder, id), sealer.seal(text, context));
      count += 1;
    }
  }
  return { count, remaining };
}

async function resealSettingsFiles(data: string, sealer: Sealer): Promise<Resealed> {
  const remaining: string[] = [];
  let count = 0;
  for (const name of settingsFiles) {
    const file = join(data, name);
    const before = await readFile(file, "utf8").catch(() => null);
    if (before === null) continue;
    const { text, count: resealed, damaged } = resealSettings(before, sealer);
    if (text !== before) await writeDurableFile(file, text);
    count += resealed;
    if (damaged > 0) remaining.push(`${damaged} settings in ${file} that can't be opened`);
  }
  return { count, remaining };
}

/** The DNS server's table has the keys of zone transfers. The control process writes it again. */
async function republishZones({ database, data }: ResealOptions, sealer: Sealer): Promise<Resealed> {
  const table = await readFile(join(data, "dns", "table.jsonl"), "utf8").catch(() => "");
  const sealed = [...table.matchAll(/"sealedSecret":"([A-Za-z0-9+/=]+)"/g)].map(([, text = ""]) => text);
  if (sealed.every((text) => sealer.isCurrent(Buffer.from(text, "base64")))) return { count: 0, remaining: [] };
  await dnsGenerations.next(database);
  return { count: 0, remaining: ["the DNS server's table, which is being published again"] };
}
