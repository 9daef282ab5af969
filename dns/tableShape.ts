/**
 * Checks the types of a table from the admin socket or a file. Values are parsed when a zone is first queried, so that
 * ten thousand zones are in force at once and an invalid value affects only its zone.
 */
import { isIP } from "node:net";
import type { DnsKey, DnsRecordSet, DnsSecondary, DnsSoa, DnsTableHead, DnsZone } from "./table.ts";

export class BadTable extends Error {
  override readonly name = "BadTable";
}

const maxTtl = 2 ** 31 - 1;
const maxSerial = 2 ** 32 - 1;
const keyName = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

/** Reads a table except for its zones. Throws `BadTable`, which names the first invalid field. */
export function readHead(value: unknown): DnsTableHead {
  const table = object(value, "table");
  const keys = list(table.keys, "keys").map((row, index) => readKey(row, `keys[${index}]`));
  const keyNames = new Set(keys.map(({ name }) => name));
  const secondaries = list(table.secondaries, "secondaries").map((row, index) =>
    readSecondary(row, `secondaries[${index}]`),
  );
  for (const { address, key } of secondaries) {
    if (!keyNames.has(key)) throw new BadTable(`secondaries: ${address} uses a key that is not in the table`);
  }
  return { generation: number(table.generation, "generation"), secondaries, keys };
}

/** Reads a zone. `at` is its path in error messages. Throws `BadTable`. */
export function readZone(value: unknown, at: string): DnsZone {
  const row = object(value, at);
  const nameServers = object(row.nameServers, `${at}.nameServers`);
  return {
    name: text(row.name, `${at}.name`),
    serial: number(row.serial, `${at}.serial`, maxSerial),
    soa: readSoa(row.soa, `${at}.soa`),
    nameServers: {
      ttl: number(nameServers.ttl, `${at}.nameServers.ttl`, maxTtl),
      names: texts(nameServers.names, `${at}.nameServers.names`),
    },
    recordSets: list(row.recordSets, `${at}.recordSets`).map((set) => readRecordSet(set, at)),
  };
}

function readSoa(value: unknown, zone: string): DnsSoa {
  const at = `${zone}.soa`;
  const row = object(value, at);
  return {
    ttl: number(row.ttl, `${at}.ttl`, maxTtl),
    primary: text(row.primary, `${at}.primary`),
    mailbox: text(row.mailbox, `${at}.mailbox`),
    refresh: number(row.refresh, `${at}.refresh`, maxTtl),
    retry: number(row.retry, `${at}.retry`, maxTtl),
    expire: number(row.expire, `${at}.expire`, maxTtl),
    negativeTtl: number(row.negativeTtl, `${at}.negativeTtl`, maxTtl),
  };
}

/** Errors name only the zone: building the exact path for hundreds of thousands of record sets would be slow. */
function readRecordSet(value: unknown, zone: string): DnsRecordSet {
  const row = object(value, `${zone}.recordSets`);
  return {
    name: text(row.name, `${zone}.recordSets.name`),
    type: text(row.type, `${zone}.recordSets.type`),
    ttl: number(row.ttl, `${zone}.recordSets.ttl`, maxTtl),
    values: texts(row.values, `${zone}.recordSets.values`),
  };
}

function readSecondary(value: unknown, at: string): DnsSecondary {
  const row = object(value, at);
  const address = text(row.address, `${at}.address`);
  if (isIP(address) === 0) throw new BadTable(`${at}.address: expected an IP address`);
  return { address, port: number(row.port, `${at}.port`, 65_535), key: text(row.key, `${at}.key`) };
}

function readKey(value: unknown, at: string): DnsKey {
  const row = object(value, at);
  const { algorithm } = row;
  if (algorithm !== "hmac-sha256" && algorithm !== "hmac-sha512") {
    throw new BadTable(`${at}.algorithm: expected hmac-sha256 or hmac-sha512`);
  }
  const name = text(row.name, `${at}.name`);
  if (!keyName.test(name)) throw new BadTable(`${at}.name: expected a domain name`);
  return { name, algorithm, sealedSecret: text(row.sealedSecret, `${at}.sealedSecret`) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function object(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new BadTable(`${at}: expected an object`);
  return value;
}

function list(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadTable(`${at}: expected a list`);
  return value;
}

function texts(value: unknown, at: string): readonly string[] {
  return list(value, at).map((one) => text(one, at));
}

function text(value: unknown, at: string): string {
  if (typeof value !== "string" || value === "") throw new BadTable(`${at}: expected a text`);
  return value;
}

function number(value: unknown, at: string, most = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 || value > most) {
    throw new BadTable(`${at}: expected a whole number from 0 to ${most}`);
  }
  return value;
}
