/** Where the processes of an installation listen: chooses the ports, and opens the sockets. */
import type { Config } from "@sitewright/server/settings/config.ts";
import { findPorts } from "./ports.ts";
import { readInstallation, readRun } from "./records.ts";
import { openSockets, type Sockets, unusedSockets } from "./sockets.ts";
import type { BoundSocket } from "./systemdSockets.ts";

export interface Ports {
  readonly controlPort: number;
  readonly edgePort: number;
  readonly edgeTlsPort: number;
  readonly dnsPort: number;
}

/** With so many, connections are accepted quickly even during a flood of them. */
const visitorSockets = 16;

/** How long to wait for ports that the children of a killed supervisor still hold. */
const orphanTimeoutMs = 8_000;

/**
 * Chooses free ports, the same ones as before if possible. `given`: sockets of systemd, whose ports are in use, by us. Throws a
 * user-facing error if a port is not free. Reports changes of addresses.
 */
export async function choosePorts(
  config: Config,
  given: readonly BoundSocket[],
  report: (sentence: string) => void,
): Promise<Ports> {
  const chosen = readInstallation(config.data);
  const api = { port: config.controlPort, purpose: "the API", setting: "SITEWRIGHT_CONTROL_PORT" };
  const sites = { port: config.edgePort, purpose: "the sites", setting: "SITEWRIGHT_EDGE_PORT" };
  const tls = { port: config.edgeTlsPort, purpose: "the sites over HTTPS", setting: "SITEWRIGHT_EDGE_TLS_PORT" };
  const dns = { port: config.dnsPort, purpose: "DNS", setting: "SITEWRIGHT_DNS_PORT" };
  const [controlPort = 0, edgePort = 0, edgeTlsPort = 0, dnsPort = 0] = await findPorts(
    config.host,
    [
      { ...api, preferred: chosen?.controlPort, host: config.apiHost, hostSetting: "SITEWRIGHT_API_HOST" },
      { ...sites, preferred: chosen?.edgePort },
      { ...tls, preferred: chosen?.edgeTlsPort },
      { ...dns, preferred: chosen?.dnsPort },
    ],
    new Set(given.filter(({ protocol }) => protocol === "tcp").map(({ port }) => port)),
    // A clean stop removes the record.
    readRun(config.data) === null ? 0 : orphanTimeoutMs,
  );
  const { publicPort = edgePort } = forwardedPorts(config);
  const previous = chosen?.publicPort ?? chosen?.edgePort ?? publicPort;
  if (previous !== publicPort) {
    const setting = chosen?.publicPort === undefined ? "SITEWRIGHT_EDGE_PORT" : "SITEWRIGHT_PUBLIC_PORT";
    report(
      `Sites now use port ${publicPort} instead of ${previous}. The URLs of existing sites are being changed. ` +
        `To go back, start with ${setting}=${previous}.`,
    );
  }
  if (chosen !== null && chosen.siteSuffix !== config.siteSuffix) {
    report(
      `Sites are now subdomains of ${config.siteSuffix} instead of ${chosen.siteSuffix}. The URLs of existing sites are ` +
        `being changed. To go back, start with SITEWRIGHT_SITE_SUFFIX=${chosen.siteSuffix}.`,
    );
  }
  return { controlPort, edgePort, edgeTlsPort, dnsPort };
}

/** Opens the sockets that children inherit. */
export async function openListeners(
  config: Config,
  ports: Ports,
  given: readonly BoundSocket[],
  report: (sentence: string) => void,
): Promise<Sockets> {
  const { host, apiHost } = config;
  const wanted = [
    { name: "http", protocol: "tcp", host, port: ports.edgePort, count: visitorSockets },
    { name: "https", protocol: "tcp", host, port: ports.edgeTlsPort, count: visitorSockets },
    { name: "api", protocol: "tcp", host: apiHost, port: ports.controlPort },
    // PowerDNS opens its own.
    ...(config.powerDns === null ? dnsSockets(host, ports.dnsPort) : []),
  ] as const;
  for (const { protocol, address, port } of unusedSockets(wanted, given)) {
    const what = `${protocol.toUpperCase()} port ${port} of ${address}`;
    report(`systemd has opened ${what}, but no setting needs it, so connections to it wait for ever. ${advice}`);
  }
  return openSockets(wanted, given);
}

const dnsSockets = (host: string, port: number) =>
  [
    { name: "dns-udp", protocol: "udp", host, port },
    { name: "dns-tcp", protocol: "tcp", host, port },
  ] as const;

const advice = "Change the setting, or the port in the socket unit.";

/** The ports in addresses that are not those on which the edge listens. */
export function forwardedPorts(config: Config): { readonly publicPort?: number; readonly publicTlsPort?: number } {
  const { edgePort, edgeTlsPort, publicPort, publicTlsPort } = config;
  return {
    ...(publicPort !== edgePort && { publicPort }),
    ...(publicTlsPort !== edgeTlsPort && { publicTlsPort }),
  };
}
