/** Finds the mistakes in the settings, with a message for each. */
import { readProxyNetwork } from "@sitewright/edge/http/trustedProxies.ts";
import { closest, distance } from "fastest-levenshtein";
import * as v from "valibot";
import { ArchiveUrlError, parseArchiveUrl } from "./archiveUrl.ts";
import { areSocketAddresses } from "./dnsSettings.ts";
import { areAddresses, areNetworks, isReachableFromInternet, isSocketAddress } from "./edgeAddresses.ts";
import { regionProblems } from "./regions.ts";
import { type Setting, secretSettings, settings } from "./settings.ts";

/** Prefix of variables for tests and tools of this repository, which are never settings. */
const testPrefix = "SITEWRIGHT_TEST_";
/** A name is taken for a mistyped setting if at most one in four characters is wrong (but one is always allowed). */
const charactersPerMistake = 4;
const prefix = "SITEWRIGHT_";

/** Returns all problems, including names that look like mistyped settings. */
export function problemsOf(given: Record<string, unknown>, values: Record<string, unknown>): string[] {
  const wrong = wrongValues(values);
  return [
    ...formerNames(given),
    ...mistypedNames(given),
    ...wrong,
    ...(wrong.length === 0 ? missingValues(values) : []),
  ];
}

/** Converts whole numbers; anything else stays text, which fails the check if the setting is a number. */
export function convertValue(name: string, value: unknown): unknown {
  const setting = Object.entries(settings.entries).find(([key]) => key === name)?.[1];
  const isWhole = setting !== undefined && withoutNone(setting).type === "number";
  return isWhole && typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

/** The schema of a setting that is set. */
function withoutNone(setting: Setting) {
  return setting.type === "nullable" ? setting.wrapped : setting;
}

function wrongValues(values: Record<string, unknown>): string[] {
  return Object.entries(settings.entries).flatMap(([name, setting]) => {
    const value = values[name];
    if (v.is(setting, value)) return typeof value === "string" ? wrongText(name, value, setting) : [];
    // A URL and a key carry secrets, and this text ends up in logs.
    const isSecret = secretSettings.has(name);
    return [`${name}${isSecret ? "" : `=${value}`} is not accepted. Accepted: ${accepted(setting)}.`];
  });
}

/** Settings that are missing although other settings need them. */
function missingValues(values: Record<string, unknown>): string[] {
  const isPowerDns = values.SITEWRIGHT_DNS_BACKEND === "powerdns";
  const needed: [name: string, isNeeded: boolean, because: string][] = [
    [
      "SITEWRIGHT_DNS_KEY",
      Boolean(values.SITEWRIGHT_DNS_SECONDARIES),
      "zones are copied by SITEWRIGHT_DNS_SECONDARIES",
    ],
    [
      "SITEWRIGHT_API_NAME",
      Boolean(values.SITEWRIGHT_API_CERTIFICATE),
      "SITEWRIGHT_API_CERTIFICATE is a certificate for it",
    ],
    ["SITEWRIGHT_API_CERTIFICATE_KEY", Boolean(values.SITEWRIGHT_API_CERTIFICATE), "SITEWRIGHT_API_CERTIFICATE is set"],
    [
      "SITEWRIGHT_API_CERTIFICATE",
      Boolean(values.SITEWRIGHT_API_CERTIFICATE_KEY),
      "SITEWRIGHT_API_CERTIFICATE_KEY is set",
    ],
    ["SITEWRIGHT_ACME_EAB_KEY", Boolean(values.SITEWRIGHT_ACME_EAB_KEY_ID), "SITEWRIGHT_ACME_EAB_KEY_ID is set"],
    ["SITEWRIGHT_ACME_EAB_KEY_ID", Boolean(values.SITEWRIGHT_ACME_EAB_KEY), "SITEWRIGHT_ACME_EAB_KEY is set"],
    ["SITEWRIGHT_POWERDNS_URL", isPowerDns, "SITEWRIGHT_DNS_BACKEND is powerdns"],
    ["SITEWRIGHT_POWERDNS_KEY", isPowerDns, "SITEWRIGHT_DNS_BACKEND is powerdns"],
  ];
  const missing = needed.filter(([name, isNeeded]) => isNeeded && values[name] === null);
  const both = isPowerDns && Boolean(values.SITEWRIGHT_DNS_SECONDARIES);
  return [
    ...missing.map(([name, , because]) => `${name} is needed, because ${because}.`),
    ...apiNameProblems(values),
    ...signInProviderProblems(values),
    ...(both ? ["SITEWRIGHT_DNS_SECONDARIES is for the built-in DNS server. Configure secondaries in PowerDNS."] : []),
  ];
}

/** A provider for signing in needs all three, and its other settings are of no use without them. */
function signInProviderProblems(values: Record<string, unknown>): string[] {
  const needed = ["SITEWRIGHT_OIDC_ISSUER", "SITEWRIGHT_OIDC_CLIENT_ID", "SITEWRIGHT_OIDC_CLIENT_SECRET"];
  const given = Object.keys(values).find((name) => name.startsWith("SITEWRIGHT_OIDC_") && Boolean(values[name]));
  if (given === undefined) return [];
  return needed.filter((name) => values[name] === null).map((name) => `${name} is needed, because ${given} is set.`);
}

/** A name below the suffix could be a site's, and sites there could set cookies for it. */
function apiNameProblems({
  SITEWRIGHT_API_NAME: name,
  SITEWRIGHT_SITE_SUFFIX: suffix,
}: Record<string, unknown>): string[] {
  if (typeof name !== "string" || !`.${name}`.endsWith(`.${suffix}`)) return [];
  return [
    `SITEWRIGHT_API_NAME=${name} is below SITEWRIGHT_SITE_SUFFIX=${suffix}, where sites have their names. Choose another.`,
  ];
}

/** Mistakes that a pattern can't find. */
function wrongText(name: string, value: string, setting: Setting): string[] {
  if (name === "SITEWRIGHT_REGIONS") return regionProblems(value);
  if (name === "SITEWRIGHT_TRUSTED_PROXIES") {
    const problems = value.split(",").map(readProxyNetwork);
    return problems.flatMap((problem) => (typeof problem === "string" ? [`${name}: ${problem}`] : []));
  }
  if (name === "DATABASE_URL" && !URL.canParse(value)) {
    return [`${name} is not a valid URL. Accepted: ${accepted(setting)}.`];
  }
  const isWrong =
    (name === "SITEWRIGHT_ADVISORIES" && value.includes("://") && !/^https?:$/.test(schemeOf(value))) ||
    (name === "SITEWRIGHT_OIDC_ISSUER" && !URL.canParse(value)) ||
    (name === "SITEWRIGHT_WPORG_URL" && value !== "none" && !URL.canParse(value)) ||
    (name === "SITEWRIGHT_EDGE_ADDRESSES" && !areAddresses(value)) ||
    (name === "SITEWRIGHT_API_HOST" && !areAddresses(value)) ||
    (name === "SITEWRIGHT_PHP_MAY_REACH" && !areNetworks(value)) ||
    (name === "SITEWRIGHT_DNS_SECONDARIES" && !areSocketAddresses(value)) ||
    (["SITEWRIGHT_RESOLVER", "SITEWRIGHT_POWERDNS_ADDRESS"].includes(name) && !isSocketAddress(value));
  if (isWrong) return [`${name}=${value} is not accepted. Accepted: ${accepted(setting)}.`];
  if (name === "SITEWRIGHT_API_HOST" && isReachableFromInternet(value)) {
    const advice =
      "Set it to 127.0.0.1 and choose a name for the API with SITEWRIGHT_API_NAME, which the sites' TLS port serves.";
    return [`${name}=${value} would publish the API without TLS, so that API keys travel in plain text. ${advice}`];
  }
  if (name !== "SITEWRIGHT_ARCHIVE_URL") return [];
  try {
    parseArchiveUrl(value, "");
    return [];
  } catch (error) {
    if (!(error instanceof ArchiveUrlError)) throw error;
    return [`${name}: ${error.message}`];
  }
}

/** Empty if it is not a URL. */
function schemeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

/** The accepted values, in words. */
export function accepted(setting: Setting): string {
  return v.getDescription(withoutNone(setting)) ?? "";
}

/** Names that settings had in earlier versions. */
const renamed: Readonly<Record<string, keyof typeof settings.entries>> = {
  SITEWRIGHT_SPARE_WORKERS: "SITEWRIGHT_PREPARED_WORKERS",
};

/** A former name is refused, because its value would otherwise be lost silently. */
function formerNames(given: Record<string, unknown>): string[] {
  return Object.entries(renamed)
    .filter(([former]) => given[former] !== undefined)
    .map(([former, name]) => `${former} is now called ${name}. Use that name.`);
}

function mistypedNames(given: Record<string, unknown>): string[] {
  const names = Object.keys(settings.entries);
  return Object.keys(given)
    .filter((name) => name.startsWith(prefix) && !name.startsWith(testPrefix))
    .filter((name) => !names.includes(name) && !(name in renamed))
    .map((name) => ({ name, near: closest(name, names) }))
    .filter(({ name, near }) => distance(name, near) <= mistakesAllowed(name))
    .map(({ name, near }) => `${name} is not a setting. Did you mean ${near}?`);
}

function mistakesAllowed(name: string): number {
  return Math.max(1, Math.floor((name.length - prefix.length) / charactersPerMistake));
}
