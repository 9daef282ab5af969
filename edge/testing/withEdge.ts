/** A real edge on a free port with a real web root. Everything is removed at the end of the test. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import { type Edge, type EdgeOptions, startEdge } from "../edge.ts";
import { createEnvironmentLogs } from "../logs/environmentLogs.ts";
import type { IdentifyPhp } from "../phpListener.ts";
import type { EdgeEnvironment, EdgeTable } from "../tables/table.ts";
import { collectLog, type Logged } from "./collectLog.ts";
import { createFakeUpstream, type FakeUpstream } from "./fakeUpstream.ts";
import { putTable } from "./http.ts";

/** An edge and the paths of its sockets. */
export interface RunningEdge extends Edge {
  readonly adminSocket: string;
  readonly loopbackSocket: string;
}

export interface EdgeWorld {
  readonly edge: RunningEdge;
  readonly upstream: FakeUpstream;
  readonly folder: string;
  /** Web root of the environment `one`, which is served at `site.localhost`. */
  readonly root: string;
  readonly environment: EdgeEnvironment;
  readonly logged: Logged[];
}

export const limits = {
  connectionsPerNetwork: 10_000,
  uploadBytes: 100_000,
  formBytes: 0,
  headSeconds: 15,
  requestSeconds: 60,
  bodyGraceSeconds: 10,
  unreadBytes: 1_000_000_000,
  silenceSeconds: 60,
  freezeSeconds: 20,
  holdSeconds: 20,
};

export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "edge-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files by their paths below `folder`, and creates missing folders. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}

export function makeEnvironment(documentRoot: string, changes: Partial<EdgeEnvironment> = {}): EdgeEnvironment {
  return {
    id: "one",
    number: 1,
    phpVersion: "8.3",
    release: 1,
    documentRoot,
    overlays: {},
    multisite: null,
    isFrozen: false,
    phpRestarts: 0,
    isOffline: false,
    deniedIps: [],
    maySendMail: false,
    ...changes,
  };
}

/** The environments of a test have no number but one to five. Their credential is their id. */
export const identifyTestPhp: IdentifyPhp = (credential) => {
  const number = ["", "one", "two", "three", "four", "five"].indexOf(credential);
  return number > 0 ? { id: credential, number } : null;
};

/** Starts an edge without sites. */
export async function startEmptyEdge(
  changes: Partial<EdgeOptions> = {},
): Promise<Omit<EdgeWorld, "environment" | "root">> {
  const folder = await makeFolder();
  const upstream = createFakeUpstream();
  const logged: Logged[] = [];
  const adminSocket = changes.adminSocket ?? path.join(folder, "run/edge.sock");
  const loopbackSocket = path.join(folder, "run-php/loopback.sock");
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream,
    host: "127.0.0.1",
    port: 0,
    adminSocket,
    php: { socket: loopbackSocket, group: null, identify: identifyTestPhp },
    tableFile: path.join(folder, "table.json"),
    bodyFolder: path.join(folder, "bodies"),
    limits,
    logs: createEnvironmentLogs({ folder: path.join(folder, "logs") }),
    log: collectLog(logged),
    ...changes,
  });
  onTestFinished(() => edge.close(0));
  return { edge: { ...edge, adminSocket, loopbackSocket }, upstream, folder, logged };
}

/** Starts an edge with one environment at `site.localhost`, with the given files in its web root. */
export async function startSite(
  files: Readonly<Record<string, string | Buffer>> = {},
  options: { readonly environment?: Partial<EdgeEnvironment>; readonly edge?: Partial<EdgeOptions> } = {},
): Promise<EdgeWorld> {
  const world = await startEmptyEdge(options.edge);
  const root = path.join(world.folder, "site");
  await writeFiles(root, { "index.php": "<?php // front", ...files });
  const environment = makeEnvironment(root, options.environment);
  await putTable(world.edge, tableOf(1, [environment], { "site.localhost": environment.id }));
  return { ...world, root, environment };
}

export function tableOf(
  generation: number,
  environments: readonly EdgeEnvironment[],
  hosts: Readonly<Record<string, string>>,
): EdgeTable {
  return {
    generation,
    environments,
    hosts: Object.entries(hosts).map(([name, environmentId]) => ({ name, environmentId })),
  };
}
