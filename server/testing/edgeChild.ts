/** Starts the real edge process with the real runtime, in a temporary data folder, without a control process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EdgeEnvironment, EdgeHost } from "@sitewright/edge/tables/table.ts";
import { ask } from "@sitewright/edge/testing/http.ts";
import { exampleSpec } from "@sitewright/runtimes/conformance/conformance.ts";
import { createPlaygroundRuntime } from "@sitewright/runtimes/playground/runtime.ts";
import { sharedAssets } from "@sitewright/runtimes/playground/testing/world.ts";
import type { WordPressInstall } from "@sitewright/runtimes/runtime.ts";
import { writeDurableFile } from "../durableFile.ts";

const mainFile = fileURLToPath(new URL("../main.ts", import.meta.url));

export interface EdgeChild {
  readonly child: ChildProcess;
  readonly port: number;
  output(): string;
}

export interface EdgeInstallation {
  readonly data: string;
  readonly adminSocket: string;
  /** Starts the process. Port 0 means any free port. Rejects with the process's output if it does not start. */
  start(port?: number): Promise<EdgeChild>;
  /** Creates a site at `<name>.localhost` and serves it, as the control process would. */
  addSite(port: number, name: string, wordpress?: Partial<WordPressInstall>): Promise<EdgeEnvironment>;
  /** Stops serving the site. */
  dropSite(id: string): Promise<void>;
  status(): Promise<{ readonly generation: number; readonly workers: readonly { readonly pid: number }[] }>;
  close(): Promise<void>;
}

export async function openEdgeInstallation(settings: NodeJS.ProcessEnv = {}): Promise<EdgeInstallation> {
  const data = await mkdtemp(join(tmpdir(), "edge-child-"));
  // Other users may pass through the folder but not list it.
  await chmod(data, 0o711);
  const run = join(data, "run");
  const adminSocket = join(run, "edge.sock");
  const runtime = createPlaygroundRuntime({ assets: sharedAssets, environments: join(data, "environments") });
  await runtime.prepare(() => undefined);
  const started: ChildProcess[] = [];
  let environments: EdgeEnvironment[] = [];
  let hosts: EdgeHost[] = [];
  let generation = 0;

  async function publish(): Promise<void> {
    generation += 1;
    const table = JSON.stringify({ generation, environments, hosts });
    await writeDurableFile(join(data, "edge", "table.json"), table);
    const response = await ask({ port: 0 }, "/table", { socketPath: adminSocket, method: "PUT", body: table });
    if (response.status !== 200) throw new Error(response.body);
  }

  return {
    data,
    adminSocket,
    start: async (port = 0) => {
      const env = {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        SITEWRIGHT_DATA: data,
        SITEWRIGHT_RUN: run,
        SITEWRIGHT_ASSETS: sharedAssets,
        SITEWRIGHT_EDGE_PORT: String(port),
        SITEWRIGHT_EDGE_TLS_PORT: "0",
        SITEWRIGHT_PREPARED_WORKERS: "0",
        SITEWRIGHT_MAX_WORKERS: "2",
        ...settings,
      };
      const child = spawn(process.execPath, [mainFile, "edge"], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
      started.push(child);
      return untilReady(child);
    },
    addSite: async (port, name, wordpress = {}) => {
      const host = `${name}.localhost`;
      const spec = exampleSpec({ address: `http://${host}:${port}`, ...wordpress });
      await runtime.provision(spec);
      const layout = await runtime.layout(spec.environment);
      if (layout === null) throw new Error("The environment has no layout.");
      const environment = { ...spec.environment, phpVersion: spec.phpVersion, isFrozen: false, ...layout };
      environments = [...environments, environment];
      const names = spec.wordpress.multisite === "subdomain" ? [host, `*.${host}`] : [host];
      hosts = [...hosts, ...names.map((each) => ({ name: each, environmentId: environment.id }))];
      await publish();
      return environment;
    },
    dropSite: async (id) => {
      environments = environments.filter((environment) => environment.id !== id);
      hosts = hosts.filter((host) => host.environmentId !== id);
      await publish();
    },
    status: async () => JSON.parse((await ask({ port: 0 }, "/status", { socketPath: adminSocket })).body),
    close: async () => {
      for (const child of started) {
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await rm(data, { recursive: true, force: true });
    },
  };
}

async function untilReady(child: ChildProcess): Promise<EdgeChild> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const [message] = await Promise.race([once(child, "message"), once(child, "exit")]);
  const ready: unknown = message;
  if (typeof ready === "object" && ready !== null && "port" in ready && typeof ready.port === "number") {
    return { child, port: ready.port, output: () => output };
  }
  throw new Error(`The edge did not start: ${JSON.stringify(ready)} ${output}`);
}
