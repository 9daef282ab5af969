/** What sites' names look like to a browser. */
import type { Settings } from "./context.ts";

/** `http://demo.localhost:8081`: where visitors of this host name find the edge. */
export function addressOf({ edgePort }: Settings, host: string): string {
  return edgePort === 80 ? `http://${host}` : `http://${host}:${edgePort}`;
}
