/** A separate Knot DNS server for a test, with its own folder and port, stopped at the end of the test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { eventually } from "@sitewright/edge/testing/eventually.ts";
import { onTestFinished } from "vitest";
import { askUdp, question } from "./packets.ts";
import { toolsEnvironment } from "./tools.ts";
import { makeFolder } from "./withDns.ts";

interface Knot {
  readonly port: number;
  /** Its log output so far. */
  readonly output: () => string;
}

/** Starts Knot and resolves when it answers. `configure` returns its settings. */
export async function startKnot(port: number, configure: (folder: string) => string): Promise<Knot> {
  const folder = await makeFolder();
  await mkdir(path.join(folder, "run"));
  const file = path.join(folder, "knot.conf");
  await writeFile(
    file,
    `server:
    rundir: "${folder}/run"
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
log:
  - target: stderr
    any: info
database:
    storage: "${folder}"
${configure(folder)}`,
  );
  const server = spawn("knotd", ["-c", file], { env: toolsEnvironment, stdio: ["ignore", "ignore", "pipe"] });
  const failed = once(server, "error").then(([error]) => {
    throw new Error(`knotd is missing: apt-get install knot (${error})`);
  });
  let output = "";
  server.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const ended = once(server, "exit");
  onTestFinished(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  const started = eventually(() => {
    if (server.exitCode !== null) throw new Error(`knotd ended: ${output}`);
    if (!output.includes("server started")) throw new Error(`knotd has not started yet: ${output}`);
  });
  await Promise.race([started, failed]);
  await askUdp(port, question(".", 1));
  return { port, output: () => output };
}

/** Settings of a secondary that transfers these zones from `primaryPort`, and accepts its NOTIFY, with the key. */
export function secondaryOf(
  zones: readonly string[],
  primaryPort: number,
  key: { readonly name: string; readonly algorithm: string; readonly secret: string },
): (folder: string) => string {
  return (folder) => `key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
remote:
  - id: primary
    address: 127.0.0.1@${primaryPort}
    key: ${key.name}
acl:
  - id: notify
    address: 127.0.0.1
    key: ${key.name}
    action: notify
zone:
${zones.map((zone) => `  - domain: ${zone}\n    storage: "${folder}"\n    master: primary\n    acl: notify`).join("\n")}
`;
}
