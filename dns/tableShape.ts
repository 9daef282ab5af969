/**
 * Checks the types of a table from the admin socket or a file. Values are parsed when a zone is first queried, so that
 * ten thousand zones are in force at once and an invalid value affects only its zone.
 */
import * as v from "valibot";
import type { DnsTableHead, DnsZone } from "./table.ts";

export class BadTable extends Error {
  override readonly name = "BadTable";
}

const keyName = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

const upTo = (most: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(most));
const text = v.pipe(v.string(), v.nonEmpty());
const ttl = upTo(2 ** 31 - 1);

const head: v.GenericSchema<unknown, DnsTableHead> = v.object({
  generation: upTo(Number.MAX_SAFE_INTEGER),
  secondaries: v.array(v.object({ address: v.pipe(v.string(), v.ip()), port: upTo(65_535), key: text })),
  keys: v.array(
    v.object({
      name: v.pipe(v.string(), v.regex(keyName, "expected a domain name")),
      algorithm: v.picklist(["hmac-sha256", "hmac-sha512"]),
      sealedSecret: text,
    }),
  ),
});

const zone: v.GenericSchema<unknown, DnsZone> = v.object({
  name: text,
  serial: upTo(2 ** 32 - 1),
  soa: v.object({
    ttl,
    primary: text,
    mailbox: text,
    refresh: ttl,
    retry: ttl,
    expire: ttl,
    negativeTtl: ttl,
  }),
  nameServers: v.object({ ttl, names: v.array(text) }),
  recordSets: v.array(v.object({ name: text, type: text, ttl, values: v.array(text) })),
});

/** Reads a table except for its zones. Throws `BadTable`, which names the first invalid field. */
export function readHead(value: unknown): DnsTableHead {
  const table = check(head, value, "table");
  const keyNames = new Set(table.keys.map(({ name }) => name));
  for (const { address, key } of table.secondaries) {
    if (!keyNames.has(key)) throw new BadTable(`secondaries: ${address} uses a key that is not in the table`);
  }
  return table;
}

/** Reads a zone. `at` is its path in error messages. Throws `BadTable`. */
export function readZone(value: unknown, at: string): DnsZone {
  return check(zone, value, at);
}

function check<Output>(schema: v.GenericSchema<unknown, Output>, value: unknown, at: string): Output {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw new BadTable(`${at}, ${v.getDotPath(issue) ?? "type"}: ${issue.message}`);
}
