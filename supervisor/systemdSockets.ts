/** The sockets that systemd has opened for this process. Which is for what, their ports tell: settings have the same ones. */
import { readFileSync, readlinkSync } from "node:fs";
import type { InheritedSocket } from "@sitewright/server/inheritedSockets.ts";

export interface BoundSocket {
  readonly descriptor: number;
  readonly protocol: "tcp" | "udp";
  readonly port: number;
}

const tables = [
  { file: "/proc/self/net/tcp", protocol: "tcp" },
  { file: "/proc/self/net/tcp6", protocol: "tcp" },
  { file: "/proc/self/net/udp", protocol: "udp" },
  { file: "/proc/self/net/udp6", protocol: "udp" },
] as const;

/** Columns of these tables, as in proc(5). */
const localAddressColumn = 1;
const inodeColumn = 9;

/** Returns the sockets with a port. Others, such as Unix sockets, are left out. */
export function findBoundSockets(sockets: readonly InheritedSocket[]): readonly BoundSocket[] {
  if (sockets.length === 0) return [];
  const known = new Map<string, Omit<BoundSocket, "descriptor">>(
    tables.flatMap(({ file, protocol }) => readPorts(file, protocol)),
  );
  return sockets.flatMap(({ descriptor }) => {
    const found = known.get(readlinkSync(`/proc/self/fd/${descriptor}`));
    return found === undefined ? [] : [{ descriptor, ...found }];
  });
}

function readPorts(file: string, protocol: "tcp" | "udp") {
  const rows = read(file).trim().split("\n").slice(1);
  return rows.map((row) => {
    const columns = row.trim().split(/\s+/);
    const port = Number.parseInt(columns[localAddressColumn]?.split(":")[1] ?? "", 16);
    return [`socket:[${columns[inodeColumn]}]`, { protocol, port }] as const;
  });
}

/** A system without IPv6 has no table for it. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
