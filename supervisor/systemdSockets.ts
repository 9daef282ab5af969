/** The sockets that systemd has opened for this process. They are matched with settings by port. */
import { readFileSync, readlinkSync } from "node:fs";
import { endianness } from "node:os";
import type { InheritedSocket } from "@sitewright/server/inheritedSockets.ts";
import ipaddr from "ipaddr.js";

export interface BoundSocket {
  readonly descriptor: number;
  readonly protocol: "tcp" | "udp";
  /** As `comparable` writes it. */
  readonly address: string;
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
    const [address = "", port = ""] = columns[localAddressColumn]?.split(":") ?? [];
    const bound = { protocol, address: readAddress(address), port: Number.parseInt(port, 16) };
    return [`socket:[${columns[inodeColumn]}]`, bound] as const;
  });
}

/** The tables have addresses as words of 32 bits, which the machine's byte order reverses. */
function readAddress(words: string): string {
  const bytes = (words.match(/.{8}/g) ?? []).flatMap((word) => {
    const read = [...Buffer.from(word, "hex")];
    return endianness() === "LE" ? read.reverse() : read;
  });
  return comparable(ipaddr.fromByteArray(bytes).toString());
}

/** One spelling for each address. IPv4 within IPv6 becomes IPv4. */
export function comparable(address: string): string {
  return ipaddr.process(address).toString();
}

/** A system without IPv6 has no table for it. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
