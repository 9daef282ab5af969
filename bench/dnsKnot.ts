/** Runs Knot DNS with the same zones on one thread, in a temporary folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DnsTable } from "@sitewright/dns/table.ts";
import { writeZoneFile } from "@sitewright/dns/zoneFiles/writeZoneFile.ts";

export const knotInstallHint = "Knot is not installed: apt-get install knot dnsperf";

/** Returns null if Knot is not installed. */
export async function startKnot(folder: string, port: number, { zones }: DnsTable): Promise<ChildProcess | null> {
  await mkdir(join(folder, "zones"), { recursive: true });
  for (const zone of zones) await writeFile(join(folder, "zones", `${zone.name}.zone`), writeZoneFile(zone));
  const settings = `server:
    rundir: "${folder}"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
log:
  - target: stderr
    any: error
database:
    storage: "${folder}"
template:
  - id: default
    storage: "${join(folder, "zones")}"
    zonefile-sync: -1
    journal-content: none
zone:
${zones.map(({ name }) => `  - domain: ${name}\n    file: "${name}.zone"`).join("\n")}
`;
  await writeFile(join(folder, "knot.conf"), settings);
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const child = spawn("knotd", ["-c", join(folder, "knot.conf")], { env, stdio: ["ignore", "ignore", "inherit"] });
  const isInstalled = await Promise.race([
    once(child, "spawn").then(() => true),
    once(child, "error").then(() => false),
  ]);
  return isInstalled ? child : null;
}
