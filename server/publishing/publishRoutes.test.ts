import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeTable } from "@sitewright/edge/tables/table.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EdgeUnavailable, makeEdgeClient } from "../clients/edgeClient.ts";
import { edgeGenerations } from "../store/generations.ts";
import { setAwaitsRebuild } from "../store/restoredInstallation.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { setMailDelivery } from "../store/traffic/mailDelivery.ts";
import { setEnvironmentState } from "../store/traffic/routes.ts";
import { visit } from "../testing/edge.ts";
import { silentLog } from "../testing/engine.ts";
import { insertNewSite, installOf, type NewSiteInput } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { makePublisher, tableFile } from "./publishRoutes.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

async function addServedSite(): Promise<string> {
  return (await addServed()).environment.id;
}

async function addServed(): Promise<NewSiteInput> {
  const { input } = await insertNewSite(world);
  const { environment, phpVersion } = input;
  await world.services.runtime.provision({ environment, phpVersion, wordpress: installOf(input) });
  await setEnvironmentState(world.own.database, [environment.id], "serving");
  return input;
}

async function readTable(): Promise<EdgeTable> {
  return JSON.parse(await readFile(tableFile(world.facts.dataFolder), "utf8"));
}

const edge = () => makeEdgeClient(world.facts.edgeSocket);

describe("publishRoutes", () => {
  test("sends the edge every served environment with its names, and writes the same table to the file", async () => {
    const id = await addServedSite();
    await addServedSite();
    await insertNewSite(world);
    await world.services.publisher.publish();
    const table = await readTable();
    expect(table.environments.length).toBe(2);
    expect(table.hosts.filter((host) => host.environmentId === id).length).toBe(1);
    expect((await edge().status()).generation).toBe(table.generation);
  });

  test("each environment is published with its runtime", async () => {
    const [one, other] = [await addServedSite(), await addServedSite()];
    const { database } = world.own;
    await database.updateTable("environments").set({ runtime: "other" }).where("id", "=", other).execute();
    await world.services.publisher.publish();
    const runtimes = new Map((await readTable()).environments.map(({ id, runtime }) => [id, runtime]));
    expect([runtimes.get(one), runtimes.get(other)]).toEqual(["playground", "other"]);
  });

  test("a wildcard domain includes every name below it", async () => {
    const id = await addServedSite();
    await world.own.database.updateTable("domains").set({ is_wildcard: true }).execute();
    await world.services.publisher.publish();
    const names = (await readTable()).hosts.filter((host) => host.environmentId === id).map((host) => host.name);
    expect(names.map((name) => name.startsWith("*."))).toEqual([false, true]);
  });

  test("an unproven domain is not served, nor are unproven names below a domain that points elsewhere", async () => {
    const id = await addServedSite();
    const { database } = world.own;
    await addOwnDomain(database, id, { name: "claimed.example", proofNeeded: "all" });
    const domainId = await addOwnDomain(database, id, { name: "new.example", proofNeeded: "subdomains" });
    const hosts = async () => {
      await world.services.publisher.publish();
      return (await readTable()).hosts.map(({ name }) => name).filter((name) => name.endsWith(".example"));
    };
    expect(await hosts()).toEqual(["new.example"]);
    const domains = database.updateTable("domains");
    await domains.set({ points_here_at: new Date() }).where("id", "=", domainId).execute();
    expect(await hosts()).toEqual(["new.example", "*.new.example"]);
    await domains.set({ points_here_at: null, verified_at: new Date() }).where("id", "=", domainId).execute();
    expect(await hosts()).toEqual(["new.example", "*.new.example"]);
  });

  test("an environment that is missing on disk is left out, and the rest is published", async () => {
    const { input } = await insertNewSite(world);
    await setEnvironmentState(world.own.database, [input.environment.id], "serving");
    const id = await addServedSite();
    await world.services.publisher.publish();
    expect((await readTable()).environments.map((environment) => environment.id)).toEqual([id]);
  });

  test("only the names of an environment that awaits its rebuild are published", async () => {
    const { environment, address } = await addServed();
    await setAwaitsRebuild(world.own.database, environment.id, true);
    await world.own.database.updateTable("domains").set({ is_wildcard: true }).execute();
    await world.services.publisher.publish();
    const { hostname } = new URL(address);
    expect(await readTable()).toMatchObject({ environments: [], hosts: [], away: [hostname, `*.${hostname}`] });
    expect((await visit(world.facts.edgePort, address)).status).toBe(503);
  });

  test("mail permissions are published, and an uncommitted change is not mistaken for published", async () => {
    const id = await addServedSite();
    const { database } = world.own;
    const { publisher } = world.services;
    const mailers = async () =>
      (await readTable()).environments.flatMap((environment) => (environment.maySendMail ? [environment.id] : []));
    await publisher.publish();
    expect(await mailers()).toEqual([id]);
    const mayCommit = Promise.withResolvers<void>();
    const announced = Promise.withResolvers<void>();
    const change = database.transaction().execute(async (transaction) => {
      await edgeGenerations.announce(transaction);
      await setMailDelivery(transaction, id, "keep");
      announced.resolve();
      await mayCommit.promise;
    });
    await announced.promise;
    const reconciling = publisher.reconcile();
    mayCommit.resolve();
    await Promise.all([change, reconciling]);
    await publisher.reconcile();
    expect(await mailers()).toEqual([]);
  });

  test("a call during a run gets a table that is read after the call", async () => {
    const publishing = [world.services.publisher.publish()];
    for (let round = 0; round < 10; round++) {
      const id = await addServedSite();
      const published = world.services.publisher.publish();
      publishing.push(published);
      await published;
      expect((await readTable()).environments.map((environment) => environment.id)).toContain(id);
    }
    await Promise.all(publishing);
  });

  test("many simultaneous calls share two runs", async () => {
    const before = await edgeGenerations.last(world.own.database);
    await Promise.all(Array.from({ length: 20 }, () => world.services.publisher.publish()));
    expect((await edgeGenerations.last(world.own.database)) - before).toBe(2);
  });

  test("two processes at once end with the changes of both", async () => {
    const { database, runtime } = world.services;
    const options = {
      database,
      runtime,
      edge: edge(),
      dataFolder: world.facts.dataFolder,
      sealer: world.services.sealer,
      log: silentLog,
    };
    const publishers = [makePublisher(options), makePublisher(options)];
    const publishing = Array.from({ length: 12 }, async (_, index) => {
      const { address } = await addServed();
      await publishers[index % 2]?.publish();
      return address;
    });
    for (const address of await Promise.all(publishing)) {
      expect((await visit(world.facts.edgePort, address)).status).toBe(200);
    }
  });

  test("without an edge it fails, but writes the file that the edge reads at startup", async () => {
    const { database, runtime } = world.services;
    const { dataFolder } = world.facts;
    const unreachable = makeEdgeClient(join(dataFolder, "missing.sock"));
    await addServedSite();
    const publisher = makePublisher({
      database,
      runtime,
      edge: unreachable,
      dataFolder,
      sealer: world.services.sealer,
      log: silentLog,
    });
    await expect(publisher.publish()).rejects.toBeInstanceOf(EdgeUnavailable);
    expect((await readTable()).environments.length).toBe(1);
  });
});

describe("reconcile", () => {
  test("publishes only if the edge has an old table", async () => {
    await world.services.publisher.publish();
    await addServedSite();
    const wanted = await edgeGenerations.next(world.own.database);
    await world.services.publisher.reconcile();
    const { generation } = await edge().status();
    expect(generation).toBeGreaterThan(wanted);
    await world.services.publisher.reconcile();
    expect((await edge().status()).generation).toBe(generation);
  });

  test("after the database was restored from an older copy, generations continue above the edge's", async () => {
    await edge().putTable({ generation: 1_000, environments: [], hosts: [] });
    const id = await addServedSite();
    await world.services.publisher.reconcile();
    expect((await edge().status()).generation).toBeGreaterThan(1_000);
    expect((await readTable()).environments.map((environment) => environment.id)).toEqual([id]);
  });
});
