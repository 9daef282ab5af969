/** Starts a PowerDNS for a test: in a temporary folder, with an empty database, on free ports. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@sitewright/dns/testing/freePort.ts";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { makePowerDnsApi, type PowerDnsApi } from "../clients/powerDnsApi.ts";
import type { PowerDnsServer } from "../settings/dnsSettings.ts";

export interface TestPowerDns extends AsyncDisposable {
  readonly place: PowerDnsServer;
  /** Port for DNS queries. */
  readonly port: number;
  readonly api: PowerDnsApi;
  /** Kills the server; its database stays. */
  kill(): Promise<void>;
  /** Starts the server again with the same database. */
  start(): Promise<void>;
}

const key = "of-a-test";

export async function startPowerDns(): Promise<TestPowerDns> {
  const folder = await mkdtemp(join(tmpdir(), "swpdns-"));
  const [port, apiPort] = [await freePort(), await freePort()];
  const place = { url: `http://127.0.0.1:${apiPort}`, key, address: `127.0.0.1:${port}` };
  const api = makePowerDnsApi(place);
  let kill = async () => {};

  async function start(): Promise<void> {
    const server = spawn(
      "pdns_server",
      [
        `--config-dir=${folder}`,
        "--daemon=no",
        "--guardian=no",
        "--disable-syslog=yes",
        "--launch=lmdb",
        // A killed process loses nothing without waiting for the disk.
        "--lmdb-sync-mode=nosync",
        `--lmdb-filename=${join(folder, "zones.lmdb")}`,
        "--local-address=127.0.0.1",
        `--local-port=${port}`,
        `--socket-dir=${folder}`,
        "--api=yes",
        `--api-key=${key}`,
        "--webserver-address=127.0.0.1",
        `--webserver-port=${apiPort}`,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let output = "";
    server.stderr.on("data", (chunk) => {
      output += chunk;
    });
    const ended = once(server, "exit").catch(() => undefined);
    kill = async () => {
      server.kill("SIGKILL");
      await ended;
    };
    const failed = once(server, "error").then(([error]) => {
      throw new Error(`pdns_server is missing: apt-get install pdns-server pdns-backend-lmdb (${error})`);
    });
    const early = ended.then(() => {
      throw new Error(`pdns_server ended: ${output}`);
    });
    early.catch(() => undefined);
    await Promise.race([eventually(() => api.listZones()), failed, early]);
  }

  await start();
  return {
    place,
    port,
    api,
    kill: () => kill(),
    start,
    [Symbol.asyncDispose]: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
