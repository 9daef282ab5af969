import { loadConfig } from "@sitewright/server/settings/config.ts";
import { expect, test } from "vitest";
import { childEnvironment, controlEnvironment } from "./childEnvironment.ts";

const provider = {
  SITEWRIGHT_OIDC_ISSUER: "https://login.example.com",
  SITEWRIGHT_OIDC_CLIENT_ID: "sitewright",
  SITEWRIGHT_OIDC_CLIENT_SECRET: "hush",
  SITEWRIGHT_OIDC_NAME: "Example Login",
  SITEWRIGHT_OIDC_EMAIL_DOMAINS: "example.com",
};
const ports = { controlPort: 1, edgePort: 2, edgeTlsPort: 3, dnsPort: 4 };

test("only control knows the provider for signing in, and the settings of the others are complete without it", () => {
  const env = { ...provider, SITEWRIGHT_BACKUP_DAYS: "30" };
  const others = childEnvironment({ config: loadConfig(env), env }, ports);
  expect(loadConfig(others)).toMatchObject({ signInProvider: null, backupDays: { manual: 30 } });
  expect(controlEnvironment(env)).toEqual(provider);
  expect(loadConfig({ ...others, ...controlEnvironment(env) }).signInProvider).toMatchObject({ clientSecret: "hush" });
});
