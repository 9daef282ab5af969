/**
 * The environment that operations run in, real except for the runtime: a database, the edge with its table, folders.
 * A plain description of it (`WorldFacts`) lets another process work in the same world.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import type { Runtime } from "@sitewright/runtimes/runtime.ts";
import type { Services } from "../operations/steps/services.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { startTestDns } from "./dns.ts";
import { type MakeServing, startTestEdge } from "./edge.ts";
import { startTestMirror } from "./mirror.ts";
import { type RuntimeParameter, servicesOf, type WorldFacts } from "./services.ts";

export interface World extends AsyncDisposable {
  readonly facts: WorldFacts;
  readonly own: TestDatabase;
  readonly services: Services;
  readonly runtime: RuntimeParameter;
}

/** The runtime of a world: as an object, and as parameters for another process. */
export interface WorldRuntime {
  readonly runtime: Runtime;
  readonly parameter: RuntimeParameter;
  readonly makeServing?: MakeServing;
}

/** Returns the fake runtime, with its state in the world's data folder. */
function fakeRuntime(dataFolder: string): WorldRuntime {
  const options = { folder: join(dataFolder, "fake") };
  const parameter = { module: "@sitewright/runtimes/fake/runtime.ts", factory: "createFakeRuntime", options };
  return { runtime: createFakeRuntime(options), parameter };
}

/** Deletes all sites, because publishing takes longer with each one. For tests that run many operations. */
export async function forgetSites({ own: { database } }: World): Promise<void> {
  await database.deleteFrom("sites").execute();
  await database.deleteFrom("zones").where("company_id", "is not", null).execute();
}

/** Creates an empty world. Absent `runtimeIn`: with the fake runtime. */
export async function makeWorld(runtimeIn: (dataFolder: string) => WorldRuntime = fakeRuntime): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const dataFolder = await mkdtemp(join(tmpdir(), "swworld-"));
  stack.defer(() => rm(dataFolder, { recursive: true, force: true }));
  const own = stack.use(await createTestDatabase());
  const { runtime, parameter, makeServing } = runtimeIn(dataFolder);
  const edge = stack.use(await startTestEdge(dataFolder, makeServing));
  const facts = {
    databaseUrl: own.url,
    dataFolder,
    edgeSocket: join(edge.runFolder, "edge.sock"),
    edgePort: edge.edge.port,
    dnsSocket: stack.use(await startTestDns(dataFolder)).adminSocket,
    packageSource: stack.use(await startTestMirror(join(dataFolder, "packages"))).url,
  };
  const services = servicesOf(facts, own.database, runtime);
  // As the control process does at startup. Before that, the edge does not respond with 404 to unknown names.
  await services.publisher.publish();
  const owned = stack.move();
  return { facts, own, services, runtime: parameter, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
