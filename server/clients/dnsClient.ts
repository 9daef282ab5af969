/** Client of the DNS process: sends tables to its admin socket, and queries its public port. */
import { request } from "node:http";
import { json } from "node:stream/consumers";
import type { DnsTable } from "@sitewright/dns/table.ts";
import { writeTable } from "@sitewright/dns/tableText.ts";
import { urlHost } from "../settings/edgeAddresses.ts";
import { type DnsQueries, makeDnsQueries } from "./dnsQueries.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";

export interface DnsServerStatus {
  /** Generation of the table that it serves. */
  readonly generation: number;
}

export interface DnsClient extends DnsQueries {
  /** Sends a table. Returns the generation that is then served: this one or a newer one. */
  putTable(table: DnsTable): Promise<number>;
  status(): Promise<DnsServerStatus>;
}

/** Client of our own DNS server. */
interface OwnDnsClient extends DnsClient {
  status(): Promise<DnsServerStatus & { readonly port: number }>;
}

const timeoutMilliseconds = 5_000;

/** Every method rejects with `DnsUnavailable` if there is no valid answer. `host` is the address that the server listens on. */
export function makeDnsClient(socketPath: string, host: string): OwnDnsClient {
  async function send(method: string, path: string, body?: string): Promise<unknown> {
    try {
      return await exchange(socketPath, method, path, body);
    } catch (cause) {
      throw new DnsUnavailable(`The DNS server did not answer ${method} ${path}`, { cause });
    }
  }
  async function status() {
    const answer = await send("GET", "/status");
    return { generation: numberAt(answer, "generation"), port: numberAt(answer, "port") };
  }
  const queries = makeDnsQueries(async () => `${urlHost(host)}:${(await status()).port}`);
  return {
    ...queries,
    putTable: async (table) => numberAt(await send("PUT", "/table", writeTable(table)), "generation"),
    status,
  };
}

function exchange(socketPath: string, method: string, path: string, body: string | undefined): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMilliseconds);
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, signal, agent: false }, (response) => {
      json(response).then((answer) => {
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`${response.statusCode}: ${JSON.stringify(answer)}`));
      }, reject);
    });
    sent.on("error", reject).end(body);
  });
}

function numberAt(answer: unknown, key: string): number {
  const value: unknown = typeof answer === "object" && answer !== null ? Reflect.get(answer, key) : undefined;
  if (typeof value !== "number") throw new DnsUnavailable(`The DNS server's answer has no ${key}`);
  return value;
}
