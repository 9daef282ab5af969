/** A real server on a free port. Everything is removed at the end of the test. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { collectLog, type Logged } from "@sitewright/edge/testing/collectLog.ts";
import { onTestFinished } from "vitest";
import { type Dns, type DnsOptions, startDns } from "../dns.ts";
import type { DnsTable } from "../table.ts";
import { writeTable } from "../tableText.ts";

interface DnsWorld extends Dns {
  readonly adminSocket: string;
  readonly folder: string;
  readonly logged: Logged[];
}

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "dns-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Tests "encrypt" secrets by reversing their bytes. */
export const seal = (secret: Uint8Array): string => Buffer.from(Buffer.from(secret).toReversed()).toString("base64");

/** Starts a server with this table in its file; null: no file. */
export async function startWith(table: DnsTable | null, changes: Partial<DnsOptions> = {}): Promise<DnsWorld> {
  const folder = await makeFolder();
  const tableFile = path.join(folder, "table.jsonl");
  if (table !== null) await writeFile(tableFile, writeTable(table));
  const logged: Logged[] = [];
  const adminSocket = path.join(folder, "run/dns.sock");
  const dns = await startDns({
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    tableFile,
    openSecret: (_name, sealed) => sealed.toReversed(),
    answersPerSecond: 0,
    tcp: { connections: 50, connectionsOfOne: 20, idleSeconds: 20 },
    log: collectLog(logged),
    ...changes,
  });
  onTestFinished(() => dns.close());
  return { ...dns, adminSocket, folder, logged };
}

/** Sends a request to the admin socket. */
export function tell(
  { adminSocket }: Pick<DnsWorld, "adminSocket">,
  method: string,
  url: string,
  body?: string,
): Promise<{ readonly status: number | undefined; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: adminSocket, path: url, method, agent: false }, async (response) => {
      resolve({ status: response.statusCode, body: JSON.parse(await text(response)) });
    });
    sent.on("error", reject).end(body);
  });
}

export const putTable = (dns: Pick<DnsWorld, "adminSocket">, table: DnsTable) =>
  tell(dns, "PUT", "/table", writeTable(table));
