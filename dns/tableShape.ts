/**
 * Checks the shape of a table that came over a wire or out of a file. What the values mean is read zone by zone when a
 * zone is first asked for, so that ten thousand zones are there at once and one bad value costs one zone.
 */
import { isIP } from "node:net";
import type { DnsKey, DnsRecordSet, DnsSecondary, DnsSoa, DnsTableHead, DnsZone } from "./table.ts";

export class BadTable extends Error {
  override readonly name = "BadTable";
}

const mostTtl = 2 ** 31 - 1;
const mostSerial = 2 ** 32 - 1;
const keyName = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;

/** Everything of a table but its zones. Throws `BadTable`, naming the first place that is wrong, as the next does. */
export function readHead(value: unknown): DnsTableHead {
  const table = object(value, "table");
  const keys = list(table.keys, "keys").map((row, index) => readKey(row, `keys[${index}]`));
  const known = new Set(keys.map(({ name }) => name));
  const secondaries = list(table.secondaries, "secondaries").map((row, index) =>
    readSecondary(row, `secondaries[${index}]`),
  );
  for (const { address, key } of secondaries) {
    if (!known.has(key)) throw new BadTable(`secondaries: ${address} has a key that isn't in the table`);
  }
  return { generation: number(table.generation, "generation"), secondaries, keys };
}

export function readZone(value: unknown, at: string): DnsZone {
  const row = object(value, at);
  const nameServers = object(row.nameServers, `${at}.nameServers`);
  return {
    name: text(row.name, `${at}.name`),
    serial: number(row.serial, `${at}.serial`, mostSerial),
    soa: readSoa(row.soa, `${at}.soa`),
    nameServers: {
      ttl: number(nameServers.ttl, `${at}.nameServers.ttl`, mostTtl),
      names: texts(nameServers.names, `${at}.nameServers.names`),
    },
    recordSets: list(row.recordSets, `${at}.recordSets`).map((set) => readRecordSet(set, at)),
  };
}

function readSoa(value: unknown, zone: string): DnsSoa {
  const at = `${zone}.soa`;
  const row = object(value, at);
  return {
    ttl: number(row.ttl, `${at}.ttl`, mostTtl),
    primary: text(row.primary, `${at}.primary`),
    mailbox: text(row.mailbox, `${at}.mailbox`),
    refresh: number(row.refresh, `${at}.refresh`, mostTtl),
    retry: number(row.retry, `${at}.retry`, mostTtl),
    expire: number(row.expire, `${at}.expire`, mostTtl),
    negativeTtl: number(row.negativeTtl, `${at}.negativeTtl`, mostTtl),
  };
}

/** There are hundreds of thousands of them, so errors say only in which zone one is. */
function readRecordSet(value: unknown, zone: string): DnsRecordSet {
  const row = object(value, `${zone}.recordSets`);
  return {
    name: text(row.name, `${zone}.recordSets.name`),
    type: text(row.type, `${zone}.recordSets.type`),
    ttl: number(row.ttl, `${zone}.recordSets.ttl`, mostTtl),
    values: texts(row.values, `${zone}.recordSets.values`),
  };
}

function readSecondary(value: unknown, at: string): DnsSecondary {
  const row = object(value, at);
  const address = text(row.address, `${at}.address`);
  if (isIP(address) === 0) throw new BadTable(`${at}.address: expected an address`);
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
