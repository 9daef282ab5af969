/** Starts the real DNS server in this process, on a free port. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Dns, startDns } from "@sitewright/dns/dns.ts";
import { zonesFile } from "../publishing/publishZones.ts";
import { silentLog } from "./engine.ts";

interface TestDns extends AsyncDisposable {
  readonly dns: Dns;
  readonly adminSocket: string;
}

export async function startTestDns(dataFolder: string): Promise<TestDns> {
  const folder = await mkdtemp(join(tmpdir(), "swdns-"));
  const adminSocket = join(folder, "dns.sock");
  const dns = await startDns({
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    tableFile: zonesFile(dataFolder),
    openSecret: (_name, sealed) => sealed,
    answersPerSecond: 0,
    tcp: { connections: 50, connectionsOfOne: 50, idleSeconds: 20 },
    log: silentLog,
  });
  return {
    dns,
    adminSocket,
    [Symbol.asyncDispose]: async () => {
      await dns.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
