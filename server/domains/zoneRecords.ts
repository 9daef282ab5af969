/** What a zone has from the beginning for a domain that is added. */

export interface ZoneRecord {
  readonly name: string;
  readonly type: "A" | "AAAA";
  /** Seconds. */
  readonly ttl: number;
  readonly values: readonly string[];
}

const ttl = 300;

/** The addresses of the edge, for the name and for those below it that belong to it. */
export function firstRecords(
  { name, isWildcard }: { readonly name: string; readonly isWildcard: boolean },
  edgeAddresses: readonly string[],
): readonly ZoneRecord[] {
  const six = edgeAddresses.filter((address) => address.includes(":"));
  const four = edgeAddresses.filter((address) => !address.includes(":"));
  const names = isWildcard ? [name, `*.${name}`] : [name];
  return names.flatMap((owner) => [
    ...(four.length > 0 ? [{ name: owner, type: "A" as const, ttl, values: four }] : []),
    ...(six.length > 0 ? [{ name: owner, type: "AAAA" as const, ttl, values: six }] : []),
  ]);
}
