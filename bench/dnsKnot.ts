/** Knot DNS with the same zones, on one thread as ours is, in a folder of the measurement's own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DnsTable } from "@sitewright/dns/table.ts";
import { writeZoneFile } from "@sitewright/dns/zoneFile.ts";

export const howToGetKnot = "knot is not installed: apt-get install knot dnsperf";

/** Null if the machine has none. */
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
  const isThere = await Promise.race([once(child, "spawn").then(() => true), once(child, "error").then(() => false)]);
  return isThere ? child : null;
}
