import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EdgeTable } from "@sitewright/edge/tables/table.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EdgeUnavailable, makeEdgeClient } from "../clients/edgeClient.ts";
import { edgeGenerations } from "../store/generations.ts";
import { setAwaitsRebuild } from "../store/restoredInstallation.ts";
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
  test("sends the edge every served environment with its names, and keeps the same in the file", async () => {
    const id = await addServedSite();
    await addServedSite();
    await insertNewSite(world);
    await world.services.publisher.publish();
    const table = await readTable();
    expect(table.environments.length).toBe(2);
    expect(table.hosts.filter((host) => host.environmentId === id).length).toBe(1);
    expect((await edge().status()).generation).toBe(table.generation);
  });

  test("a wildcard domain leads every name below it too", async () => {
    const id = await addServedSite();
    await world.own.database.updateTable("domains").set({ is_wildcard: true }).execute();
    await world.services.publisher.publish();
    const names = (await readTable()).hosts.filter((host) => host.environmentId === id).map((host) => host.name);
    expect(names.map((name) => name.startsWith("*."))).toEqual([false, true]);
  });

  test("an environment that is not on disk is left out, and the rest is published", async () => {
    const { input } = await insertNewSite(world);
    await setEnvironmentState(world.own.database, [input.environment.id], "serving");
    const id = await addServedSite();
    await world.services.publisher.publish();
    expect((await readTable()).environments.map((environment) => environment.id)).toEqual([id]);
  });

  test("of an environment that is made anew the edge learns the names alone", async () => {
    const { environment, address } = await addServed();
    await setAwaitsRebuild(world.own.database, environment.id, true);
    await world.own.database.updateTable("domains").set({ is_wildcard: true }).execute();
    await world.services.publisher.publish();
    const { hostname } = new URL(address);
    expect(await readTable()).toMatchObject({ environments: [], hosts: [], away: [hostname, `*.${hostname}`] });
    expect((await visit(world.facts.edgePort, address)).status).toBe(503);
  });

  test("tells who may reach mail servers, and a change of that is never taken for told before it is committed", async () => {
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
    const told = publisher.reconcile();
    mayCommit.resolve();
    await Promise.all([change, told]);
    await publisher.reconcile();
    expect(await mailers()).toEqual([]);
  });

  test("who asks while it runs is served by what is read after that", async () => {
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

  test("many who ask at once share two runs", async () => {
    const before = await edgeGenerations.last(world.own.database);
    await Promise.all(Array.from({ length: 20 }, () => world.services.publisher.publish()));
    expect((await edgeGenerations.last(world.own.database)) - before).toBe(2);
  });

  test("two processes at once end with what both wanted", async () => {
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

  test("without an edge it fails, and the file is there for the edge's start", async () => {
    const { database, runtime } = world.services;
    const { dataFolder } = world.facts;
    const gone = makeEdgeClient(join(dataFolder, "nobody.sock"));
    await addServedSite();
    const publisher = makePublisher({
      database,
      runtime,
      edge: gone,
      dataFolder,
      sealer: world.services.sealer,
      log: silentLog,
    });
    await expect(publisher.publish()).rejects.toBeInstanceOf(EdgeUnavailable);
    expect((await readTable()).environments.length).toBe(1);
  });
});

describe("reconcile", () => {
  test("publishes where the edge is behind, and only there", async () => {
    await world.services.publisher.publish();
    await addServedSite();
    const wanted = await edgeGenerations.next(world.own.database);
    await world.services.publisher.reconcile();
    const { generation } = await edge().status();
    expect(generation).toBeGreaterThan(wanted);
    await world.services.publisher.reconcile();
    expect((await edge().status()).generation).toBe(generation);
  });

  test("a database that was restored from an older copy catches up with the edge", async () => {
    await edge().putTable({ generation: 1_000, environments: [], hosts: [] });
    const id = await addServedSite();
    await world.services.publisher.reconcile();
    expect((await edge().status()).generation).toBeGreaterThan(1_000);
    expect((await readTable()).environments.map((environment) => environment.id)).toEqual([id]);
  });
});
