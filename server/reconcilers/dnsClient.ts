/** The DNS process: told by its admin socket, and asked on its port as everybody asks it. */
import { Resolver } from "node:dns/promises";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import type { DnsTable } from "@sitewright/dns/table.ts";

export interface DnsServerStatus {
  /** Of the table that it serves. */
  readonly generation: number;
  /** Where it answers. */
  readonly port: number;
}

export interface DnsClient {
  /** Hands over a table and gives the generation that is served then: this one, or a newer. */
  putTable(table: DnsTable): Promise<number>;
  status(): Promise<DnsServerStatus>;
  /** The serial that the running server answers for the zone. */
  serialOf(zone: string): Promise<number>;
  /** The texts that it answers for the name; none where there are none. */
  textsOf(name: string): Promise<readonly string[]>;
}

/** The DNS process could not be asked, or did not understand: it may be starting. */
export class DnsUnavailable extends Error {
  override readonly name = "DnsUnavailable";
}

const patienceMilliseconds = 5_000;
const noSuchRecord = new Set(["ENOTFOUND", "ENODATA"]);

/** Every method rejects with `DnsUnavailable` where there is no proper answer. `host` is what the server listens on. */
export function makeDnsClient(socketPath: string, host: string): DnsClient {
  async function tell(method: string, path: string, body?: string): Promise<unknown> {
    try {
      return await exchange(socketPath, method, path, body);
    } catch (cause) {
      throw new DnsUnavailable(`The DNS server gave no answer to ${method} ${path}`, { cause });
    }
  }
  async function status(): Promise<DnsServerStatus> {
    const answer = await tell("GET", "/status");
    return { generation: numberAt(answer, "generation"), port: numberAt(answer, "port") };
  }
  async function resolver(): Promise<Resolver> {
    const one = new Resolver({ timeout: 1_000, tries: 2 });
    one.setServers([`${reachable(host)}:${(await status()).port}`]);
    return one;
  }
  return {
    status,
    putTable: async (table) => numberAt(await tell("PUT", "/table", JSON.stringify(table)), "generation"),
    serialOf: async (zone) => {
      const one = await resolver();
      try {
        return (await one.resolveSoa(zone)).serial;
      } catch (cause) {
        throw new DnsUnavailable(`The DNS server does not answer for ${zone}`, { cause });
      }
    },
    textsOf: async (name) => {
      const one = await resolver();
      try {
        return (await one.resolveTxt(name)).map((parts) => parts.join(""));
      } catch (cause) {
        if (cause instanceof Error && "code" in cause && noSuchRecord.has(String(cause.code))) return [];
        throw new DnsUnavailable(`The DNS server does not answer for ${name}`, { cause });
      }
    },
  };
}

function reachable(host: string): string {
  const address = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return address.includes(":") ? `[${address}]` : address;
}

function exchange(socketPath: string, method: string, path: string, body: string | undefined): Promise<unknown> {
  const signal = AbortSignal.timeout(patienceMilliseconds);
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
