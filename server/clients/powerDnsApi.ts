/** PowerDNS's HTTP API, as far as zones need it. https://doc.powerdns.com/authoritative/http-api/ */
import type { PowerDnsPlace } from "../settings/dnsSettings.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";

/** Names with their final dot; contents as zone files have them. */
export interface RrSet {
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly records: readonly { readonly content: string; readonly disabled: boolean }[];
}

export type RrSetChange = (RrSet & { readonly changetype: "REPLACE" }) | RrSetRemoval;
interface RrSetRemoval extends Pick<RrSet, "name" | "type"> {
  readonly changetype: "DELETE";
}

/** A zone as lists show it. */
export interface PowerDnsZone {
  /** For addresses. */
  readonly id: string;
  /** Without the final dot. */
  readonly name: string;
  readonly serial: number;
  /** The account that created it. */
  readonly account: string;
}

export interface PowerDnsApi {
  listZones(): Promise<readonly PowerDnsZone[]>;
  readZone(id: string): Promise<readonly RrSet[]>;
  addZone(zone: { readonly name: string; readonly account: string; readonly rrsets: readonly RrSet[] }): Promise<void>;
  /** All of it or nothing. */
  changeZone(id: string, changes: readonly RrSetChange[]): Promise<void>;
  removeZone(id: string): Promise<void>;
  /** What was noted with the zone; null: nothing, or there is no such zone. */
  readNote(zone: string, kind: string): Promise<string | null>;
  writeNote(zone: string, kind: string, text: string): Promise<void>;
}

const patienceMilliseconds = 10_000;
/** Of what it says about an error. */
const mostSaid = 300;

/** Every method rejects with `DnsUnavailable` if it does not do what it is told. */
export function makePowerDnsApi({ url, key }: Pick<PowerDnsPlace, "url" | "key">): PowerDnsApi {
  const zones = "/api/v1/servers/localhost/zones";

  async function ask(method: string, path: string, body?: object): Promise<Response> {
    try {
      return await fetch(`${url}${path}`, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.timeout(patienceMilliseconds),
      });
    } catch (cause) {
      throw new DnsUnavailable(`PowerDNS gave no answer to ${method} ${path}`, { cause });
    }
  }

  async function tell(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await ask(method, path, body);
    const text = await answer.text().catch(() => "");
    if (!answer.ok) {
      throw new DnsUnavailable(`PowerDNS answered ${method} ${path} with ${answer.status}: ${text.slice(0, mostSaid)}`);
    }
    return text === "" ? null : readJson(text);
  }

  const notePath = (zone: string, kind: string) => `${zones}/${encodeURIComponent(`${zone}.`)}/metadata/${kind}`;

  return {
    listZones: async () => list(await tell("GET", zones)).map(readListed),
    readZone: async (id) => list(at(await tell("GET", `${zones}/${id}`), "rrsets")).map(readRrSet),
    addZone: async ({ name, account, rrsets }) => {
      // Without a word about serials it would count them itself.
      const zone = { name: `${name}.`, kind: "Native", account, soa_edit_api: "", nameservers: [], rrsets };
      await tell("POST", zones, zone);
    },
    changeZone: async (id, changes) => {
      await tell("PATCH", `${zones}/${id}`, { rrsets: changes });
    },
    removeZone: async (id) => {
      await tell("DELETE", `${zones}/${id}`);
    },
    readNote: async (zone, kind) => {
      const answer = await ask("GET", notePath(zone, kind));
      if (answer.status === 404) return null;
      if (!answer.ok) throw new DnsUnavailable(`PowerDNS answered ${answer.status} when it was asked for a note`);
      const [note] = list(at(readJson(await answer.text()), "metadata"));
      return typeof note === "string" ? note : null;
    },
    writeNote: async (zone, kind, text) => {
      await tell("PUT", notePath(zone, kind), { kind, metadata: [text] });
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DnsUnavailable("What PowerDNS answered is no JSON: is that the address of its API?", { cause });
  }
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new DnsUnavailable("PowerDNS answered something else than a list");
  return value;
}

function readListed(value: unknown): PowerDnsZone {
  return {
    id: String(at(value, "id")),
    name: String(at(value, "name")).toLowerCase().replace(/\.$/, ""),
    serial: Number(at(value, "serial")),
    account: String(at(value, "account") ?? ""),
  };
}

function readRrSet(value: unknown): RrSet {
  return {
    name: String(at(value, "name")),
    type: String(at(value, "type")),
    ttl: Number(at(value, "ttl")),
    records: list(at(value, "records")).map((record) => ({
      content: String(at(record, "content")),
      disabled: at(record, "disabled") === true,
    })),
  };
}
