/** The first records of a zone. */

interface ZoneRecord {
  readonly name: string;
  readonly type: "A" | "AAAA";
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
}

const ttl = 300;

/** Addresses of the edge for the name and, with a wildcard, for the names below it. */
export function firstRecords(
  { name, isWildcard }: { readonly name: string; readonly isWildcard: boolean },
  edgeAddresses: readonly string[],
): readonly ZoneRecord[] {
  const ipv6 = edgeAddresses.filter((address) => address.includes(":"));
  const ipv4 = edgeAddresses.filter((address) => !address.includes(":"));
  const names = isWildcard ? [name, `*.${name}`] : [name];
  return names.flatMap((owner) => [
    ...(ipv4.length > 0 ? [{ name: owner, type: "A" as const, ttl, values: ipv4 }] : []),
    ...(ipv6.length > 0 ? [{ name: owner, type: "AAAA" as const, ttl, values: ipv6 }] : []),
  ]);
}
