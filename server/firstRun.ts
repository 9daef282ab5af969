/** Addresses and credentials for the person who installed Sitewright, in `<data>/first-run.json` (mode 0600). */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurableFile } from "./durableFile.ts";
import { urlHost } from "./settings/edgeAddresses.ts";

interface Addresses {
  /** Base URL of the API: `http://127.0.0.1:8080/v2`. */
  readonly api_url: string;
  readonly console_url: string;
  /** Sites have subdomains of it: `http://localhost:8081` means `http://<site>.localhost:8081`. */
  readonly sites_url: string;
  /** Port of the built-in DNS server. */
  readonly dns_port: number;
}

export interface FirstRun extends Addresses {
  readonly company_id: string;
  readonly api_key: string;
  readonly admin_email: string;
  readonly admin_password: string;
}

interface AddressSettings {
  readonly apiHost: string;
  readonly controlPort: number;
  readonly publicPort: number;
  readonly dnsPort: number;
  readonly siteSuffix: string;
}

export function addressesOf({ apiHost, controlPort, publicPort, dnsPort, siteSuffix }: AddressSettings): Addresses {
  const here = withPort(urlHost(apiHost), controlPort);
  return {
    api_url: `${here}/v2`,
    console_url: `${here}/`,
    sites_url: withPort(siteSuffix, publicPort),
    dns_port: dnsPort,
  };
}

function withPort(host: string, port: number): string {
  return port === 80 ? `http://${host}` : `http://${host}:${port}`;
}

function fileIn(dataFolder: string): string {
  return join(dataFolder, "first-run.json");
}

export function writeFirstRun(dataFolder: string, facts: FirstRun): Promise<void> {
  return writeDurableFile(fileIn(dataFolder), `${JSON.stringify(facts, null, 2)}\n`);
}

/** Updates the addresses in the file. A missing file is not created again: its reader may have removed it on purpose. */
export async function refreshFirstRun(dataFolder: string, addresses: Addresses): Promise<void> {
  const text = await readFile(fileIn(dataFolder), "utf8").catch(() => null);
  if (text === null) return;
  const facts: unknown = JSON.parse(text);
  if (typeof facts !== "object" || facts === null) return;
  const fresh = { ...facts, ...addresses };
  const changed = `${JSON.stringify(fresh, null, 2)}\n`;
  if (changed !== text) await writeDurableFile(fileIn(dataFolder), changed);
}
