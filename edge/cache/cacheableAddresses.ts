/**
 * Remembers the addresses whose pages could be cached.
 *
 * PHP gets a neutral request for a page to be cached, so the visitor's referrer and user agent are lost. For other responses,
 * plugins log them or decide by them. So an address gets neutral requests only once a visitor's own request has shown that
 * its page can be cached.
 */
import { createHash } from "node:crypto";
import type { PageRequest } from "../visit/pageRequest.ts";

/** The same for all hosts, languages and devices. */
type Address = Pick<PageRequest, "environmentId" | "url">;

interface CacheableAddresses {
  has(address: Address): boolean;
  add(address: Address): void;
  remove(address: Address): void;
  /** Forgets all other environments. */
  retain(environmentIds: Iterable<string>): void;
}

/** Limit per environment. If it is exceeded, the address that was added first is forgotten. */
const maxAddresses = 5_000;

export function createCacheableAddresses(): CacheableAddresses {
  const known = new Map<string, Set<string>>();
  return {
    has: (address) => known.get(address.environmentId)?.has(digestOf(address)) ?? false,
    add(address) {
      const addresses = known.get(address.environmentId) ?? new Set();
      known.set(address.environmentId, addresses.add(digestOf(address)));
      const [oldest = ""] = addresses;
      if (addresses.size > maxAddresses) addresses.delete(oldest);
    },
    remove: (address) => void known.get(address.environmentId)?.delete(digestOf(address)),
    retain(environmentIds) {
      const retained = new Set(environmentIds);
      for (const id of known.keys()) if (!retained.has(id)) known.delete(id);
    },
  };
}

/** Short, because addresses can be long. */
function digestOf({ url }: Address): string {
  return createHash("blake2s256").update(url).digest("base64url").slice(0, 12);
}
