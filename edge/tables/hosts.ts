/** Parses Host headers and finds the environment for a host name. */
import type { EdgeHost } from "./table.ts";

const label = "[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?";
const hostHeader = new RegExp(`^(?<name>${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])\\.?(?::(?<port>\\d{0,5}))?$`, "i");

const highestPort = 65_535;

/** The host name in lower case, without port and trailing dot. Null if the header is malformed. */
export function readHost(header: string | undefined): string | null {
  if (header === undefined || header.length > 260) return null;
  const { name, port } = hostHeader.exec(header)?.groups ?? {};
  if (name === undefined || name.length > 253 || Number(port ?? 0) > highestPort) return null;
  return name.toLowerCase();
}

/** The environment id for a name, or null. Exact names come before wildcards, longer wildcards before shorter ones. */
export function findHost(hosts: ReadonlyMap<string, string>, name: string): string | null {
  const exact = hosts.get(name);
  if (exact !== undefined) return exact;
  for (let dot = name.indexOf("."); dot !== -1; dot = name.indexOf(".", dot + 1)) {
    const environmentId = hosts.get(`*${name.slice(dot)}`);
    if (environmentId !== undefined) return environmentId;
  }
  return null;
}

export function indexHosts(hosts: readonly EdgeHost[]): ReadonlyMap<string, string> {
  return new Map(hosts.map((host) => [host.name.toLowerCase(), host.environmentId]));
}
