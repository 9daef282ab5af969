/** The settings of the OpenID Connect provider with which people can sign in. */
import type { Settings } from "./settings.ts";

/** How this installation is registered at an OpenID Connect provider. */
export interface ProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** For people. */
  readonly name: string;
  /** The only domains of e-mail addresses that are accepted. Null: all. */
  readonly emailDomains: readonly string[] | null;
}

/** Null: there is none. `settingChecks.ts` refuses incomplete settings. */
export function signInProviderOf(values: Settings): ProviderConfig | null {
  const { SITEWRIGHT_OIDC_ISSUER: issuer, SITEWRIGHT_OIDC_CLIENT_ID: clientId } = values;
  const { SITEWRIGHT_OIDC_CLIENT_SECRET: clientSecret, SITEWRIGHT_OIDC_EMAIL_DOMAINS: domains } = values;
  if (issuer === null || clientId === null || clientSecret === null) return null;
  const name = values.SITEWRIGHT_OIDC_NAME ?? new URL(issuer).host;
  return { issuer, clientId, clientSecret, name, emailDomains: domains?.split(",") ?? null };
}
