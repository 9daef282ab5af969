/** The part of PowerDNS's HTTP API that zones need. https://doc.powerdns.com/authoritative/http-api/ */
import type { PowerDnsServer } from "../settings/dnsSettings.ts";
import { DnsUnavailable } from "./dnsUnavailable.ts";

/** Names end with a dot; contents are in zone file format. */
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

/** A zone in a list. */
export interface PowerDnsZone {
  /** For URLs. */
  readonly id: string;
  /** Without the trailing dot. */
  readonly name: string;
  readonly serial: number;
  /** The account that created it. */
  readonly account: string;
}

export interface PowerDnsApi {
  listZones(): Promise<readonly PowerDnsZone[]>;
  readZone(id: string): Promise<readonly RrSet[]>;
  addZone(zone: { readonly name: string; readonly account: string; readonly rrsets: readonly RrSet[] }): Promise<void>;
  /** Atomic. */
  changeZone(id: string, changes: readonly RrSetChange[]): Promise<void>;
  removeZone(id: string): Promise<void>;
  /** The zone's metadata of this kind, or null if there is none or no such zone. */
  readMetadata(zone: string, kind: string): Promise<string | null>;
  writeMetadata(zone: string, kind: string, text: string): Promise<void>;
}

const timeoutMilliseconds = 10_000;
/** Longest excerpt of PowerDNS's error messages. */
const maxExcerpt = 300;

/** Every method rejects with `DnsUnavailable` if the request fails. */
export function makePowerDnsApi({ url, key }: Pick<PowerDnsServer, "url" | "key">): PowerDnsApi {
  const zones = "/api/v1/servers/localhost/zones";

  async function send(method: string, path: string, body?: object): Promise<Response> {
    try {
      return await fetch(`${url}${path}`, {
        method,
        headers: { "x-api-key": key, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
    } catch (cause) {
      throw new DnsUnavailable(`PowerDNS did not answer ${method} ${path}`, { cause });
    }
  }

  async function sendOrFail(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await send(method, path, body);
    const text = await answer.text().catch(() => "");
    if (!answer.ok) {
      throw new DnsUnavailable(
        `PowerDNS answered ${method} ${path} with ${answer.status}: ${text.slice(0, maxExcerpt)}`,
      );
    }
    return text === "" ? null : readJson(text);
  }

  const metadataPath = (zone: string, kind: string) => `${zones}/${encodeURIComponent(`${zone}.`)}/metadata/${kind}`;

  return {
    listZones: async () => list(await sendOrFail("GET", zones)).map(readListed),
    readZone: async (id) => list(at(await sendOrFail("GET", `${zones}/${id}`), "rrsets")).map(readRrSet),
    addZone: async ({ name, account, rrsets }) => {
      // Without an empty `soa_edit_api`, PowerDNS would set serials itself.
      const zone = { name: `${name}.`, kind: "Native", account, soa_edit_api: "", nameservers: [], rrsets };
      await sendOrFail("POST", zones, zone);
    },
    changeZone: async (id, changes) => {
      await sendOrFail("PATCH", `${zones}/${id}`, { rrsets: changes });
    },
    removeZone: async (id) => {
      await sendOrFail("DELETE", `${zones}/${id}`);
    },
    readMetadata: async (zone, kind) => {
      const answer = await send("GET", metadataPath(zone, kind));
      if (answer.status === 404) return null;
      if (!answer.ok) throw new DnsUnavailable(`PowerDNS answered a request for zone metadata with ${answer.status}`);
      const [text] = list(at(readJson(await answer.text()), "metadata"));
      return typeof text === "string" ? text : null;
    },
    writeMetadata: async (zone, kind, text) => {
      await sendOrFail("PUT", metadataPath(zone, kind), { kind, metadata: [text] });
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DnsUnavailable("PowerDNS did not answer with JSON. Is this the address of its API?", { cause });
  }
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new DnsUnavailable("PowerDNS did not answer with a list");
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
