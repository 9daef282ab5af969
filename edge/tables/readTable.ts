/** Validates a table from the admin socket or a file. */
import { readNetwork } from "./blockedIps.ts";
import type { EdgeCertificate, EdgeChallenge, EdgeEnvironment, EdgeHost, EdgeLimits, EdgeTable } from "./table.ts";

export class BadTable extends Error {
  override readonly name = "BadTable";
}

/** Throws `BadTable`, which names the first invalid field. */
export function readTable(value: unknown): EdgeTable {
  const table = object(value, "table");
  const environments = list(table.environments, "environments").map((row, index) =>
    readEnvironment(row, `environments[${index}]`),
  );
  const ids = new Set(environments.map((environment) => environment.id));
  const hosts = list(table.hosts, "hosts").map(readHostRow);
  for (const host of hosts) {
    if (!ids.has(host.environmentId)) throw new BadTable(`hosts: the environment of ${host.name} is not in the table`);
  }
  // Older table files lack the fields below.
  const away = list(table.away ?? [], "away").map((name, index) => text(name, `away[${index}]`));
  const certificates = list(table.certificates ?? [], "certificates").map(readCertificateRow);
  const challenges = list(table.challenges ?? [], "challenges").map(readChallenge);
  return { generation: count(table.generation, "generation"), environments, hosts, away, certificates, challenges };
}

function readCertificateRow(value: unknown, index: number): EdgeCertificate {
  const at = `certificates[${index}]`;
  const row = object(value, at);
  return {
    id: text(row.id, `${at}.id`),
    names: list(row.names, `${at}.names`).map((name) => text(name, `${at}.names`)),
    notAfter: count(row.notAfter, `${at}.notAfter`),
  };
}

function readChallenge(value: unknown, index: number): EdgeChallenge {
  const at = `challenges[${index}]`;
  const row = object(value, at);
  return {
    host: text(row.host, `${at}.host`),
    token: text(row.token, `${at}.token`),
    content: text(row.content, `${at}.content`),
  };
}

/** `at` is the path of the field in error messages. Throws `BadTable`. */
export function readEnvironment(value: unknown, at: string): EdgeEnvironment {
  const row = object(value, at);
  return {
    id: text(row.id, `${at}.id`),
    number: count(row.number, `${at}.number`),
    phpVersion: text(row.phpVersion, `${at}.phpVersion`),
    release: count(row.release, `${at}.release`),
    documentRoot: folder(row.documentRoot, `${at}.documentRoot`),
    overlays: readOverlays(row.overlays, `${at}.overlays`),
    multisite: readMultisite(row.multisite, `${at}.multisite`),
    // Older table files lack the fields below.
    isFrozen: flag(row.isFrozen ?? false, `${at}.isFrozen`),
    phpRestarts: count(row.phpRestarts ?? 0, `${at}.phpRestarts`),
    isOffline: flag(row.isOffline ?? false, `${at}.isOffline`),
    maySendMail: flag(row.maySendMail ?? false, `${at}.maySendMail`),
    ...(row.primaryHost === undefined ? {} : { primaryHost: text(row.primaryHost, `${at}.primaryHost`) }),
    ...(row.redirectRules === undefined ? {} : { redirectRules: text(row.redirectRules, `${at}.redirectRules`) }),
    ...(row.pageCache === undefined ? {} : { pageCache: readPageCache(row.pageCache, `${at}.pageCache`) }),
    ...(row.limits === undefined ? {} : { limits: readLimits(row.limits, `${at}.limits`) }),
    deniedIps: list(row.deniedIps ?? [], `${at}.deniedIps`).map((entry, index) =>
      network(entry, `${at}.deniedIps[${index}]`),
    ),
  };
}

function readPageCache(value: unknown, at: string): { readonly epoch: number } {
  return { epoch: count(object(value, at).epoch, `${at}.epoch`) };
}

function readLimits(value: unknown, at: string): EdgeLimits {
  const row = object(value, at);
  return {
    threads: count(row.threads, `${at}.threads`),
    memoryMb: count(row.memoryMb, `${at}.memoryMb`),
    requestSeconds: row.requestSeconds === null ? null : count(row.requestSeconds, `${at}.requestSeconds`),
    disk: row.disk === null ? null : readDisk(row.disk, `${at}.disk`),
  };
}

function readDisk(value: unknown, at: string): EdgeLimits["disk"] {
  const row = object(value, at);
  return {
    leftBytes: whole(row.leftBytes, `${at}.leftBytes`),
    measuredAt: count(row.measuredAt, `${at}.measuredAt`),
  };
}

function readOverlays(value: unknown, at: string): Readonly<Record<string, string>> {
  const entries = Object.entries(object(value, at));
  return Object.fromEntries(entries.map(([name, target]) => [name, folder(target, `${at}.${name}`)]));
}

function readMultisite(value: unknown, at: string): EdgeEnvironment["multisite"] {
  if (value === null || value === "subdirectory" || value === "subdomain") return value;
  throw new BadTable(`${at}: expected subdirectory, subdomain or null`);
}

function readHostRow(value: unknown, index: number): EdgeHost {
  const at = `hosts[${index}]`;
  const row = object(value, at);
  return {
    name: text(row.name, `${at}.name`),
    environmentId: text(row.environmentId, `${at}.environmentId`),
    ...(row.forceHttps === undefined ? {} : { forceHttps: readForceHttps(row.forceHttps, `${at}.forceHttps`) }),
  };
}

function readForceHttps(value: unknown, at: string): "same" | "primary" {
  if (value === "same" || value === "primary") return value;
  throw new BadTable(`${at}: expected same or primary`);
}

export function object(value: unknown, at: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new BadTable(`${at}: expected an object`);
  return { ...value };
}

export function list(value: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new BadTable(`${at}: expected a list`);
  return value;
}

export function text(value: unknown, at: string): string {
  if (typeof value !== "string" || value === "") throw new BadTable(`${at}: expected a text`);
  return value;
}

export function flag(value: unknown, at: string): boolean {
  if (typeof value !== "boolean") throw new BadTable(`${at}: expected true or false`);
  return value;
}

function folder(value: unknown, at: string): string {
  const path = text(value, at);
  if (!path.startsWith("/")) throw new BadTable(`${at}: expected an absolute path`);
  return path;
}

function network(value: unknown, at: string): string {
  const written = text(value, at);
  if (readNetwork(written) === null) throw new BadTable(`${at}: expected an address or a network`);
  return written;
}

function whole(value: unknown, at: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new BadTable(`${at}: expected a whole number`);
  return value;
}

export function count(value: unknown, at: string): number {
  const number = whole(value, at);
  if (number < 0) throw new BadTable(`${at}: expected a whole number, not below 0`);
  return number;
}
