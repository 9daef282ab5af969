/** What DNS says of a name, asked of the resolver that the installation is set to. */
import { Resolver } from "node:dns/promises";
import type { RecordType } from "./records.ts";

/** The resolver gave no answer that means anything: it is away, slow, or has failed itself. */
export class NoDnsAnswer extends Error {
  override readonly name = "NoDnsAnswer";
}

/**
 * The values of the name's records of that type, none if there are none. `name` is absolute. Names in values are absolute
 * too, and in lower case. Rejects with `NoDnsAnswer`.
 */
export type LookUp = (type: RecordType | "NS", name: string) => Promise<readonly string[]>;

const tryMilliseconds = 2_000;
const tries = 2;
/** Of everything that one question may come to: c-ares waits longer with each try. */
const mostMilliseconds = 8_000;
const meansNone = new Set(["ENOTFOUND", "ENODATA"]);

/** `server`: `127.0.0.1:53` or `[::1]:53`; null: those of this machine. */
export function makeLookUp(server: string | null): LookUp {
  return async (type, name) => {
    const resolver = new Resolver({ timeout: tryMilliseconds, tries });
    if (server !== null) resolver.setServers([server]);
    const timer = setTimeout(() => resolver.cancel(), mostMilliseconds);
    try {
      return await valuesOf(resolver, type, name.replace(/\.$/, ""));
    } catch (error) {
      if (error instanceof Error && "code" in error && meansNone.has(String(error.code))) return [];
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
