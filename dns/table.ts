/**
 * The DNS server's desired state. It is always sent as a complete table, never as a change. The server answers from the
 * table with the highest generation it has seen, also while the control process is down.
 *
 * Names are absolute and lower case, IDNs as A-labels, with or without the final dot.
 */

export interface DnsRecordSet {
  /** A name in the zone; `*.example.com` for a wildcard. */
  readonly name: string;
  /** `A`, `MX`, …: one of `records/recordTypes.ts`. Not SOA, and not NS at the apex. */
  readonly type: string;
  /** In seconds. */
  readonly ttl: number;
  /** At least one, in the format of zone files. */
  readonly values: readonly string[];
}

export interface DnsSoa {
  /** TTL of the SOA record itself, in seconds. */
  readonly ttl: number;
  readonly primary: string;
  /** The responsible person's mailbox, as a name: `hostmaster.example.com`. */
  readonly mailbox: string;
  /** This and the next three in seconds. */
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly negativeTtl: number;
}

export interface DnsZone {
  readonly name: string;
  /** Increased (RFC 1982) with every change to the zone. */
  readonly serial: number;
  readonly soa: DnsSoa;
  readonly nameServers: { readonly ttl: number; readonly names: readonly string[] };
  readonly recordSets: readonly DnsRecordSet[];
}

/** A server that is notified of new serials, and may transfer zones with its key and from its address. */
export interface DnsSecondary {
  readonly address: string;
  /** The port for NOTIFY. */
  readonly port: number;
  /** The name of one of the table's keys. */
  readonly key: string;
}

export interface DnsKey {
  /** Lower case, without a final dot. */
  readonly name: string;
  readonly algorithm: "hmac-sha256" | "hmac-sha512";
  /** Encrypted, in Base64; `openSecret` decrypts it. */
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
