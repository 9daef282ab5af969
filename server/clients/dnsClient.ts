/** The DNS process: told by its admin socket, and asked on its port as everybody asks it. */
import { request } from "node:http";
import { json } from "node:stream/consumers";
import type { DnsTable } from "@sitewright/dns/table.ts";
import { writeTable } from "@sitewright/dns/tableText.ts";
import { reachable } from "../settings/edgeAddresses.ts";
import { type DnsQuestions, makeDnsQuestions } from "./dnsQuestions.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";

export interface DnsServerStatus {
  /** Of the table that it serves. */
  readonly generation: number;
}

export interface DnsClient extends DnsQuestions {
  /** Hands over a table and returns the generation that is served then: this one, or a newer. */
  putTable(table: DnsTable): Promise<number>;
  status(): Promise<DnsServerStatus>;
}

/** Of our own server. */
export interface OwnDnsClient extends DnsClient {
  status(): Promise<DnsServerStatus & { readonly port: number }>;
}

const patienceMilliseconds = 5_000;

/** Every method rejects with `DnsUnavailable` if there is no proper answer. `host` is what the server listens on. */
export function makeDnsClient(socketPath: string, host: string): OwnDnsClient {
  async function tell(method: string, path: string, body?: string): Promise<unknown> {
    try {
      return await exchange(socketPath, method, path, body);
    } catch (cause) {
      throw new DnsUnavailable(`The DNS server gave no answer to ${method} ${path}`, { cause });
    }
  }
  async function status() {
    const answer = await tell("GET", "/status");
    return { generation: numberAt(answer, "generation"), port: numberAt(answer, "port") };
  }
  const questions = makeDnsQuestions(async () => `${reachable(host)}:${(await status()).port}`);
  return {
    ...questions,
    putTable: async (table) => numberAt(await tell("PUT", "/table", writeTable(table)), "generation"),
    status,
  };
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
