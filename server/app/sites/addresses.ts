/** What sites' names look like to a browser. */
import type { Settings } from "../context.ts";

type Ports = Pick<Settings, "edgePort" | "edgeTlsPort">;

/** The default host name of an environment: `staging-demo.localhost`. */
export function hostOf({ siteSuffix }: Settings, environmentName: string, siteName: string): string {
  return environmentName === "live" ? `${siteName}.${siteSuffix}` : `${environmentName}-${siteName}.${siteSuffix}`;
}

/** A name, and whether the WordPress that is there knows itself by it by https. */
export interface SiteHost {
  readonly host: string;
  readonly is_https: boolean;
}

/** `http://demo.localhost:8081`: where visitors of this host name find the edge. */
export function addressOf({ edgePort, edgeTlsPort }: Ports, { host, is_https }: SiteHost): string {
  if (is_https) return edgeTlsPort === 443 ? `https://${host}` : `https://${host}:${edgeTlsPort}`;
  return edgePort === 80 ? `http://${host}` : `http://${host}:${edgePort}`;
}
