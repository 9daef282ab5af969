/** What the terminal shows after startup: addresses and an example command. Contains no secrets, since logs may keep it. */
import { urlHost } from "@sitewright/server/settings/edgeAddresses.ts";
import { baseUrl, siteUrl } from "./addresses.ts";
import { type FirstRun, firstRunPath } from "./records.ts";

interface BannerFacts {
  readonly data: string;
  readonly host: string;
  readonly apiHost: string;
  readonly controlPort: number;
  readonly publicPort: number;
  readonly publicTlsPort: number;
  readonly dnsPort: number;
  /** Null if Sitewright's own DNS server is used. */
  readonly powerDns: { readonly address: string } | null;
  readonly siteSuffix: string;
  readonly sites: number;
  readonly environments: number;
  /** Region in the example command. */
  readonly region: string;
  /** Null once the operator has deleted the file. */
  readonly firstRun: Pick<FirstRun, "company_id" | "admin_email"> | null;
  /** Whether systemd has started this process. */
  readonly isService: boolean;
}

export function banner(facts: BannerFacts): string {
  const api = `${baseUrl(facts.apiHost, facts.controlPort)}/v2`;
  const lines = [
    "",
    "Sitewright is ready.",
    "",
    `  API      ${api}`,
    `  Console  ${baseUrl(facts.apiHost, facts.controlPort)}/`,
    `  Docs     ${baseUrl(facts.apiHost, facts.controlPort)}/docs`,
    `  Sites    ${siteUrl("<site>", facts.siteSuffix, facts.publicPort)}${counts(facts)}`,
    `  HTTPS    port ${facts.publicTlsPort}, for domains that have a certificate`,
    `  DNS      ${facts.powerDns === null ? `${urlHost(facts.host)}:${facts.dnsPort}` : `PowerDNS at ${facts.powerDns.address}`}`,
  ];
  if (facts.firstRun === null) {
    return [...lines, "", `Stop it with ${stopCommand(facts)}.`, ""].join("\n");
  }
  const { company_id: company } = facts.firstRun;
  const key = keyFromFile(facts.data);
  return [
    ...lines,
    `  Company  ${company}`,
    `  API key  in ${firstRunPath(facts.data)}, which only you can read`,
    "",
    facts.sites > 0 ? "List your sites:" : `Create a site at ${siteUrl("demo", facts.siteSuffix, facts.publicPort)}:`,
    "",
    facts.sites > 0 ? listCommand(api, key) : createCommand(api, key, company, facts),
    "",
    "More commands: docs/tour.md",
    `Stop everything with ${stopCommand(facts)}.`,
    "",
  ].join("\n");
}

/** The socket would start the service again. */
function stopCommand({ isService }: BannerFacts): string {
  return isService ? "systemctl stop sitewright.socket sitewright.service" : "Ctrl-C";
}

/** Shell expression that reads the API key, so that the command works without showing the secret. */
function keyFromFile(data: string): string {
  return `$(sed -n 's/.*"api_key": *"\\([^"]*\\)".*/\\1/p' '${firstRunPath(data)}')`;
}

function counts({ sites, environments }: BannerFacts): string {
  if (sites === 0) return "";
  return ` (${sites} ${sites === 1 ? "site" : "sites"}, ${environments} ${environments === 1 ? "environment" : "environments"})`;
}

function listCommand(api: string, key: string): string {
  return `curl ${api}/sites -H "Authorization: Bearer ${key}"`;
}

function createCommand(api: string, key: string, company: string, { region, firstRun }: BannerFacts): string {
  const body = {
    company,
    display_name: "Demo",
    region,
    site_title: "My first site",
    wp_language: "en_US",
    admin_email: firstRun?.admin_email ?? "admin@example.com",
    admin_user: "admin",
    admin_password: "change-me-soon",
  };
  return `curl -X POST ${api}/sites -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
}
