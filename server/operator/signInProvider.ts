/** What `doctor` finds out about the provider with which people can sign in. */
import { examineProvider } from "../openid/signInProvider.ts";
import type { Config } from "../settings/config.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Nothing if there is no provider. */
export async function signInProviderFinding({
  signInProvider: provider,
}: Pick<Config, "signInProvider">): Promise<Finding[]> {
  if (provider === null) return [];
  const obstacle = await examineProvider(provider);
  if (obstacle === null) return [ok(`Signing in: ${provider.name} answers, and knows this installation.`)];
  return [
    problem(
      `Signing in: ${provider.name} ${obstacle}, so people can sign in with passwords and passkeys only. Check the SITEWRIGHT_OIDC_ settings, and this installation's registration at ${provider.issuer}.`,
    ),
  ];
}
