/** The part of PowerDNS's HTTP API that zones need. https://doc.powerdns.com/authoritative/http-api/ */
import * as v from "valibot";
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

const listedZone: v.GenericSchema<unknown, PowerDnsZone> = v.object({
  id: v.string(),
  name: v.pipe(
    v.string(),
    v.transform((name) => name.toLowerCase().replace(/\.$/, "")),
  ),
  serial: v.number(),
  account: v.optional(v.string(), ""),
});
const record = v.object({ content: v.string(), disabled: v.boolean() });
const zoneContent = v.object({
  rrsets: v.array(v.object({ name: v.string(), type: v.string(), ttl: v.number(), records: v.array(record) })),
});
const metadata = v.object({ metadata: v.array(v.string()) });

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

  async function sendOrFail(method: string, path: string, body?: object): Promise<string> {
    const answer = await send(method, path, body);
    const text = await answer.text().catch(() => "");
    if (!answer.ok) {
      throw new DnsUnavailable(
        `PowerDNS answered ${method} ${path} with ${answer.status}: ${text.slice(0, maxExcerpt)}`,
      );
    }
    return text;
  }

  const metadataPath = (zone: string, kind: string) => `${zones}/${encodeURIComponent(`${zone}.`)}/metadata/${kind}`;

  return {
    listZones: async () => readJson(v.array(listedZone), await sendOrFail("GET", zones)),
    readZone: async (id) => readJson(zoneContent, await sendOrFail("GET", `${zones}/${id}`)).rrsets,
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
      return readJson(metadata, await answer.text()).metadata[0] ?? null;
    },
    writeMetadata: async (zone, kind, text) => {
      await sendOrFail("PUT", metadataPath(zone, kind), { kind, metadata: [text] });
    },
  };
}

function readJson<Output>(schema: v.GenericSchema<unknown, Output>, text: string): Output {
  try {
    return v.parse(v.pipe(v.string(), v.parseJson(), schema), text);
  } catch (cause) {
    throw new DnsUnavailable("PowerDNS did not answer as its API does. Is this the address of its API?", { cause });
  }
}
