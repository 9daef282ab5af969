/**
 * The DNS process. It starts with the table in its file and needs neither the control process nor the database, so it keeps
 * answering while those are down, and after it was killed and restarted.
 */
import { join } from "node:path";
import { type Dns, startDns } from "@sitewright/dns/dns.ts";
import { type Logger, pino } from "pino";
import { dnsKeyContext } from "./dnsTransfers.ts";
import { descriptorsOf, type InheritedSocket, takeInheritedSockets } from "./inheritedSockets.ts";
import { secretsKeyFile } from "./sealedSettings.ts";
import { openSealer } from "./sealing.ts";
import { type Config, loadConfig } from "./settings/config.ts";
import { CannotStart, runSupervised } from "./supervisedProcess.ts";

/** Rate limit per client: far more than a resolver needs, and too little to harm the victim of forged queries. */
const answersPerSecond = 100;
const tcp = { connections: 500, connectionsOfOne: 50, idleSeconds: 20 };

interface DnsProcessOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly sockets: readonly InheritedSocket[];
}

/** Resolves when queries are answered. Rejects with `CannotStart` if the operator can fix the problem. */
async function startDnsProcess({ config, log, sockets }: DnsProcessOptions): Promise<Dns> {
  const sealer = await openSealer(secretsKeyFile(config.data));
  try {
    return await startDns({
      host: config.host,
      port: config.dnsPort,
      inherited: { udp: descriptorsOf(sockets, "dns-udp")?.[0], tcp: descriptorsOf(sockets, "dns-tcp")?.[0] },
      adminSocket: join(config.run, "dns.sock"),
      tableFile: join(config.data, "dns", "table.jsonl"),
      openSecret: (name, sealed) => Buffer.from(sealer.open(sealed, dnsKeyContext(name)), "base64"),
      answersPerSecond,
      tcp,
      log,
    });
  } catch (cause) {
    throw explain(cause, config);
  }
}

function explain(cause: unknown, { dnsPort, host }: Config): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : null;
  switch (code) {
    case "EADDRINUSE":
      return new CannotStart(`Port ${dnsPort} is in use. Choose another with SITEWRIGHT_DNS_PORT.`, { cause });
    case "EACCES":
      return new CannotStart(
        `This user is not allowed to open port ${dnsPort}. Choose one above 1023 with SITEWRIGHT_DNS_PORT.`,
        { cause },
      );
    case "EADDRNOTAVAIL":
      return new CannotStart(`This machine has no address ${host}. Choose another with SITEWRIGHT_HOST.`, { cause });
    default:
      return cause;
  }
}

/** Entry point of the process: reads the settings, and runs until it is stopped. */
export async function runDns(): Promise<void> {
  await runSupervised(async () => {
    const sockets = takeInheritedSockets(process.env);
    const config = loadConfig(process.env);
    const dns = await startDnsProcess({ config, log: pino({ level: config.logLevel, base: undefined }), sockets });
    return { stop: () => dns.close() };
  });
}
