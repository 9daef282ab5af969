/**
 * The newest hash of each chain, in `<data>/activity-heads.json`, outside the database. A chain that was cut off or computed
 * again does not end with it.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { writeDurableFile } from "../durableFile.ts";
import { type Link, origin } from "./chain.ts";

export interface ChainHead {
  /** Where the chain begins: after the entries that have been removed because of their age. */
  readonly start: Link;
  readonly head: Link;
}

/** By chain. */
export type Heads = ReadonlyMap<string, ChainHead>;

const LinkShape = v.object({ sequence: v.number(), hash: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)) });
const HeadsFile = v.object({ chains: v.record(v.string(), v.object({ start: LinkShape, head: LinkShape })) });

export const headsFileName = "activity-heads.json";

export const headOf = (heads: Heads, chain: string): ChainHead => heads.get(chain) ?? { start: origin, head: origin };

/** Reads the file; empty if it is missing. Throws if it is damaged. */
export async function readHeads(data: string): Promise<Heads> {
  const file = join(data, headsFileName);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return new Map();
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), HeadsFile), text);
  if (parsed.success) return new Map(Object.entries(parsed.output.chains));
  throw new Error(`${file} is damaged. Restore it from a backup, or accept the log as it is: operator audit accept`);
}

export function writeHeads(data: string, heads: Heads): Promise<void> {
  return writeDurableFile(join(data, headsFileName), `${JSON.stringify({ chains: Object.fromEntries(heads) })}\n`);
}
