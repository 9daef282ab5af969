/** The addresses and networks from which an API key is accepted. Null is everywhere; an empty list is nowhere. */
import { isIP } from "node:net";
import { Refused } from "../failures.ts";
import { contains, InvalidNetwork, readAnyNetwork } from "../traffic/networks.ts";

export type AddressList = readonly string[] | null;

/** Returns the entries in their shortest form, without duplicates. Throws `Refused` with all invalid entries. */
export function readAddressList(entries: AddressList): AddressList {
  if (entries === null) return null;
  const networks = new Set<string>();
  const errors: { readonly path: string; readonly message: string }[] = [];
  for (const [index, entry] of entries.entries()) {
    try {
      networks.add(readAnyNetwork(entry));
    } catch (error) {
      if (!(error instanceof InvalidNetwork)) throw error;
      errors.push({ path: `/allowed_addresses/${index}`, message: `must ${error.message}` });
    }
  }
  const [first] = errors;
  if (first === undefined) return [...networks];
  throw new Refused("not_an_address", `An entry of allowed_addresses ${first.message}.`, { errors });
}

/**
 * Whether a request from this address is accepted. IPv4-mapped IPv6 addresses count as IPv4 addresses. Text that is not an
 * address, as some proxies send in X-Forwarded-For, is in no list.
 */
export function isAddressAllowed(list: AddressList, address: string): boolean {
  if (list === null) return true;
  const [withoutZone = ""] = address.split("%", 1);
  if (isIP(withoutZone) === 0) return false;
  const network = readAnyNetwork(withoutZone);
  return list.some((allowed) => contains(allowed, network));
}

/** Whether everything that `inner` allows is allowed by `outer`, entry by entry. */
export function isWithin(inner: AddressList, outer: AddressList): boolean {
  if (outer === null) return true;
  return inner?.every((entry) => outer.some((network) => contains(network, entry))) ?? false;
}

/** The addresses that both lists allow. */
export function intersection(one: AddressList, other: AddressList): AddressList {
  if (one === null || other === null) return one ?? other;
  const narrower = one.flatMap((entry) =>
    other.flatMap((network) => (contains(network, entry) ? [entry] : contains(entry, network) ? [network] : [])),
  );
  return [...new Set(narrower)];
}
