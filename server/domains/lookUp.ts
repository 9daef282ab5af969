/** DNS lookups with the configured resolver. */
import { Resolver } from "node:dns/promises";
import type { RecordType } from "./records.ts";

/** The resolver is unreachable, too slow, or failed itself. */
export class NoDnsAnswer extends Error {
  override readonly name = "NoDnsAnswer";
}

/**
 * Returns the values of the name's records of that type; empty if there are none. `name` and names in values are
 * absolute; names in values are in lower case. Rejects with `NoDnsAnswer`.
 */
export type LookUp = (type: RecordType | "NS", name: string) => Promise<readonly string[]>;

const tryMilliseconds = 2_000;
const tries = 2;
/** For all tries of one lookup: c-ares doubles the timeout with each try. */
const maxMilliseconds = 8_000;
const noRecordCodes = new Set(["ENOTFOUND", "ENODATA"]);

/** `server` is such as `127.0.0.1:53` or `[::1]:53`; null for the system's resolvers. */
export function makeLookUp(server: string | null): LookUp {
  return async (type, name) => {
    const resolver = new Resolver({ timeout: tryMilliseconds, tries });
    if (server !== null) resolver.setServers([server]);
    const timer = setTimeout(() => resolver.cancel(), maxMilliseconds);
    try {
      return await valuesOf(resolver, type, name.replace(/\.$/, ""));
    } catch (error) {
      if (error instanceof Error && "code" in error && noRecordCodes.has(String(error.code))) return [];
      throw new NoDnsAnswer(`The resolver gave no answer to ${type} ${name}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}

async function valuesOf(resolver: Resolver, type: RecordType | "NS", name: string): Promise<readonly string[]> {
  if (type === "TXT") return (await resolver.resolveTxt(name)).map((parts) => parts.join(""));
  if (type === "A") return resolver.resolve4(name);
  if (type === "AAAA") return resolver.resolve6(name);
  const targets = type === "NS" ? await resolver.resolveNs(name) : await resolver.resolveCname(name);
  return targets.map((target) => `${target.toLowerCase().replace(/\.$/, "")}.`);
}
