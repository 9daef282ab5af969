/** Host names and URLs of environments. */
import type { Settings } from "../context.ts";

type Ports = Pick<Settings, "publicPort" | "publicTlsPort">;

/** The default host name of an environment: `staging-demo.localhost`. */
export function hostOf({ siteSuffix }: Settings, environmentName: string, siteName: string): string {
  return environmentName === "live" ? `${siteName}.${siteSuffix}` : `${environmentName}-${siteName}.${siteSuffix}`;
}

/** A host name, and whether its WordPress uses HTTPS for it. */
export interface SiteHost {
  readonly host: string;
  readonly is_https: boolean;
}

/** The URL by which visitors reach this host at the edge: `http://demo.localhost:8081`. */
export function addressOf({ publicPort, publicTlsPort }: Ports, { host, is_https }: SiteHost): string {
  if (is_https) return publicTlsPort === 443 ? `https://${host}` : `https://${host}:${publicTlsPort}`;
  return publicPort === 80 ? `http://${host}` : `http://${host}:${publicPort}`;
}
