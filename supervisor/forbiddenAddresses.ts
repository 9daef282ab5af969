import { parseArchiveUrl } from "@sitewright/server/settings/archiveUrl.ts";
import type { Config } from "@sitewright/server/settings/config.ts";

/**
 * Servers that customers' PHP must not reach. The edge, which runs that PHP, gets their addresses without credentials.
 */
export function forbiddenAddresses({
  databaseUrl,
  smtpUrl,
  powerDns,
  archiveUrl,
  archives,
}: Config): NodeJS.ProcessEnv {
  const store = parseArchiveUrl(archiveUrl, archives);
  return {
    ...(powerDns !== null && {
      SITEWRIGHT_DNS_BACKEND: "powerdns",
      SITEWRIGHT_POWERDNS_URL: powerDns.url,
      SITEWRIGHT_POWERDNS_ADDRESS: powerDns.address,
      SITEWRIGHT_POWERDNS_KEY: "none",
    }),
    ...(store.kind === "s3" && {
      SITEWRIGHT_ARCHIVE_URL: `s3://none:none@${new URL(store.endpoint).host}/none?region=none${isPlain(store.endpoint) ? "&tls=off" : ""}`,
    }),
    ...(databaseUrl === null ? {} : { DATABASE_URL: `postgresql://${new URL(databaseUrl).host}/` }),
    ...(smtpUrl === null || !URL.canParse(smtpUrl) ? {} : { SITEWRIGHT_SMTP_URL: withoutCredentials(smtpUrl) }),
  };
}

function isPlain(url: string): boolean {
  return new URL(url).protocol === "http:";
}

function withoutCredentials(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
