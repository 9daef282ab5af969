/** What sites' names look like to a browser. */
import type { Settings } from "./context.ts";

/** The name below which an environment of a site is found, unless somebody decides otherwise: `staging-demo.localhost`. */
export function hostOf({ siteSuffix }: Settings, environmentName: string, siteName: string): string {
  return environmentName === "live" ? `${siteName}.${siteSuffix}` : `${environmentName}-${siteName}.${siteSuffix}`;
}

/** `http://demo.localhost:8081`: where visitors of this host name find the edge. */
export function addressOf({ edgePort }: Settings, host: string): string {
  return edgePort === 80 ? `http://${host}` : `http://${host}:${edgePort}`;
}
