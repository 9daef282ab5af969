/** The last words of a start: where everything is, and what to type next. */
import { reachable } from "@sitewright/server/settings/edgeAddresses.ts";
import { baseUrl, siteUrl } from "./addresses.ts";
import { type FirstRun, firstRunPath } from "./records.ts";

export interface BannerFacts {
  readonly data: string;
  readonly host: string;
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly dnsPort: number;
  /** Null: our own DNS server answers. */
  readonly powerDns: { readonly address: string } | null;
  readonly siteSuffix: string;
  readonly sites: number;
  readonly environments: number;
  /** A region that new sites may name. */
  readonly region: string;
  readonly firstRun: FirstRun | null;
  /** The key is printed once, when it is made. */
  readonly isFirstRun: boolean;
}

export function banner(facts: BannerFacts): string {
  const api = `${baseUrl(facts.host, facts.controlPort)}/v2`;
  const lines = [
    "",
    "Sitewright is ready.",
    "",
    `  API      ${api}`,
    `  Sites    ${siteUrl("<site>", facts.siteSuffix, facts.edgePort)}${contentOf(facts)}`,
    `  HTTPS    port ${facts.edgeTlsPort}, for domains that have a certificate`,
    `  DNS      ${facts.powerDns === null ? `${reachable(facts.host)}:${facts.dnsPort}` : `PowerDNS at ${facts.powerDns.address}`}`,
  ];
  if (facts.firstRun === null) {
    return [...lines, "", "Stop it with Ctrl-C.", ""].join("\n");
  }
  const { company_id: company, api_key: key } = facts.firstRun;
  return [
    ...lines,
    `  Company  ${company}`,
    facts.isFirstRun ? `  API key  ${key}` : `  API key  in ${firstRunPath(facts.data)}`,
    ...(facts.isFirstRun
      ? [`           (also in ${firstRunPath(facts.data)}, with the administrator's password)`]
      : []),
    "",
    ...(facts.sites > 0
      ? [`List your sites:`]
      : [`Create a site, which then answers at ${siteUrl("demo", facts.siteSuffix, facts.edgePort)}:`]),
    "",
    facts.sites > 0
      ? listLine(api, keyFromFile(facts.data))
      : createLine(api, facts.isFirstRun ? key : keyFromFile(facts.data), company, facts),
    "",
    "More commands: docs/tour.md",
    "Stop everything with Ctrl-C.",
    "",
  ].join("\n");
}

/** Later starts print no secret, and the line still works as it is. */
function keyFromFile(data: string): string {
  return `$(sed -n 's/.*"api_key": *"\\([^"]*\\)".*/\\1/p' '${firstRunPath(data)}')`;
}

function contentOf({ sites, environments }: BannerFacts): string {
  if (sites === 0) return "";
  return ` (${sites} ${sites === 1 ? "site" : "sites"}, ${environments} ${environments === 1 ? "environment" : "environments"})`;
}

function listLine(api: string, key: string): string {
  return `curl ${api}/sites -H "Authorization: Bearer ${key}"`;
}

function createLine(api: string, key: string, company: string, { region, firstRun }: BannerFacts): string {
  const body = {
    company,
    display_name: "Demo",
    region,
    install_mode: "new",
    site_title: "Demo",
    wp_language: "en_US",
    admin_email: firstRun?.admin_email ?? "admin@example.com",
    admin_user: "admin",
    admin_password: "change-me-soon",
  };
  return `curl -X POST ${api}/sites -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${JSON.stringify(body)}'`;
}
