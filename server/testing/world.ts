/**
 * Everything that operations touch, real but for the runtime: a database, the edge with its table, folders.
 * A plain description of it (`WorldFacts`) lets another process work in the same world.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import { makeProbe } from "../operations/probe.ts";
import type { Services } from "../operations/services.ts";
import { makeEdgeClient } from "../reconcilers/edgeClient.ts";
import { makePublisher } from "../reconcilers/publishRoutes.ts";
import type { Database } from "../store/database.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startTestEdge } from "./edge.ts";
import { silentLog } from "./engine.ts";

export interface WorldFacts {
  readonly databaseUrl: string;
  readonly dataFolder: string;
  readonly edgeSocket: string;
  readonly edgePort: number;
}

export interface World extends AsyncDisposable {
  readonly facts: WorldFacts;
  readonly own: TestDatabase;
  readonly services: Services;
}

/** The fake, with its state in the world's data folder. */
export function fakeRuntimeOf({ dataFolder }: WorldFacts): Runtime {
  return createFakeRuntime({ folder: join(dataFolder, "fake") });
}

export function servicesOf(facts: WorldFacts, database: Database, runtime: Runtime): Services {
  const edge = makeEdgeClient(facts.edgeSocket);
  return {
    database,
    runtime,
    publisher: makePublisher({ database, runtime, edge, dataFolder: facts.dataFolder, log: silentLog }),
    probe: makeProbe(facts.edgePort),
  };
}

/** A new, empty world. */
export async function makeWorld(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const dataFolder = await mkdtemp(join(tmpdir(), "swworld-"));
  stack.defer(() => rm(dataFolder, { recursive: true, force: true }));
  const own = stack.use(await createTestDatabase());
  const edge = stack.use(await startTestEdge(dataFolder));
  const facts = {
    databaseUrl: own.url,
    dataFolder,
    edgeSocket: join(edge.runFolder, "edge.sock"),
    edgePort: edge.edge.port,
  };
  const services = servicesOf(facts, own.database, fakeRuntimeOf(facts));
  const owned = stack.move();
  return { facts, own, services, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
