/**
 * What the DNS server is told: one whole table, never a change to it. It keeps the table with the highest generation it
 * has seen, in memory and in a file, and needs nobody to answer from it.
 *
 * Names are absolute and lower case, IDNs as A-labels; the final dot may be there or not.
 */

export interface DnsRecordSet {
  /** In the zone; `*.example.com` for a wildcard. */
  readonly name: string;
  /** `A`, `MX`, …: one of `records/recordTypes.ts`. Not SOA, and not NS at the top of the zone. */
  readonly type: string;
  /** Seconds. */
  readonly ttl: number;
  /** At least one, as `readValue` takes them: the way zone files write them. */
  readonly values: readonly string[];
}

export interface DnsSoa {
  /** Of the SOA record itself, seconds. */
  readonly ttl: number;
  readonly primary: string;
  /** The responsible person's mailbox, as a name: `hostmaster.example.com`. */
  readonly mailbox: string;
  /** These four in seconds. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly negativeTtl: number;
}

export interface DnsZone {
  readonly name: string;
  /** Another and higher one (RFC 1982) whenever anything in the zone is another. */
  readonly serial: number;
  readonly soa: DnsSoa;
  readonly nameServers: { readonly ttl: number; readonly names: readonly string[] };
  readonly recordSets: readonly DnsRecordSet[];
}

/** A server that is told of new serials, and may fetch whole zones with its key from its address. */
export interface DnsSecondary {
  readonly address: string;
  /** Where it takes what it is told. */
  readonly port: number;
  /** Name of one of the table's keys. */
  readonly key: string;
}

export interface DnsKey {
  /** Lower case, without a final dot. */
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** Base64, encrypted; the server's `openSecret` decrypts it. */
  readonly sealedSecret: string;
}

export interface DnsTable extends DnsTableHead {
  readonly zones: readonly DnsZone[];
}

export interface DnsTableHead {
  readonly generation: number;
  readonly secondaries: readonly DnsSecondary[];
  readonly keys: readonly DnsKey[];
}
