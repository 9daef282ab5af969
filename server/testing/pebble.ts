/** The certificate authority `pebble`, with a DNS server that resolves every name to this machine. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "@sitewright/dns/testing/freePort.ts";
import type { AccountBinding } from "../certificates/acme/signing.ts";
import { makeCertificate } from "../certificates/testing/openssl.ts";

export interface Pebble extends AsyncDisposable {
  /** URL of its directory. */
  readonly directory: string;
  /** PEM of the root certificate that signs Pebble's own address. */
  readonly root: string;
  /** Address and port of the DNS server that resolves every name to this machine. */
  readonly resolver: string;
  /** Its log so far. */
  readonly lines: readonly string[];
}

/**
 * Rejects one nonce in five, as real authorities may. Even with 0, it does not validate a name again for about one order in a
 * hundred.
 */
const settings = { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: "20", PEBBLE_AUTHZREUSE: "0" };

interface PebbleOptions {
  /** Port of HTTP-01 validation requests. */
  readonly httpPort: number;
  /** DNS server for validation. Absent: the one that resolves every name to this machine. */
  readonly dnsServer?: string;
  /** Creates accounts only with this external account binding. Absent: for everyone. */
  readonly binding?: AccountBinding;
}

export async function startPebble({ httpPort, dnsServer, binding }: PebbleOptions): Promise<Pebble> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "swpebble-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const file = (name: string) => join(folder, name);
  const { cert, key } = await makeCertificate({ names: ["127.0.0.1"] });
  const [port, management] = [await freePort(), await freePort()];
  const [dns, dnsManagement] = [await freePort(), await freePort()];
  const config = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: file("cert.pem"),
    privateKey: file("key.pem"),
    httpPort,
    tlsPort: httpPort,
    ocspResponderURL: "",
    externalAccountBindingRequired: binding !== undefined,
    ...(binding && { externalAccountMACKeys: { [binding.keyId]: binding.key.toString("base64url") } }),
  };
  await writeFile(file("cert.pem"), cert);
  await writeFile(file("key.pem"), key, { mode: 0o600 });
  await writeFile(file("config.json"), JSON.stringify({ pebble: config }));

  const otherServersOff = ["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""];
  const resolver = ["-dns01", `127.0.0.1:${dns}`, "-management", `127.0.0.1:${dnsManagement}`];
  const names = spawn("pebble-challtestsrv", [...otherServersOff, ...resolver], { stdio: ["ignore", "pipe", "pipe"] });
  stack.defer(() => end(names));
  await untilPrinted(names, /Starting management server/i, []);
  const lines: string[] = [];
  const pebble = spawn("pebble", ["-config", file("config.json"), "-dnsserver", dnsServer ?? `127.0.0.1:${dns}`], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...settings },
  });
  stack.defer(() => end(pebble));
  await untilPrinted(pebble, /ACME directory available at/i, lines);
  const owned = stack.move();
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    root: cert,
    resolver: `127.0.0.1:${dns}`,
    lines,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function untilPrinted(child: ChildProcess, words: RegExp, lines: string[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.once("error", reject);
  child.once("exit", (code) => reject(new Error(`The process ended with ${code}:\n${lines.join("\n")}`)));
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) throw new Error("The process has no output");
    createInterface(stream).on("line", (line) => {
      lines.push(line);
      if (words.test(line)) resolve();
    });
  }
  await promise;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
