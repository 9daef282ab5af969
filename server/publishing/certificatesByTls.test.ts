/** From the database to the visitor: the certificates that the real edge serves, and its answers to the authority. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { startEdge } from "@sitewright/edge/edge.ts";
import { createEnvironmentLogs } from "@sitewright/edge/logs/environmentLogs.ts";
import { createFakeServing } from "@sitewright/runtimes/fake/serving.ts";
import { expect, onTestFinished, test } from "vitest";
import { readCustomCertificate } from "../certificates/checkCustom.ts";
import { makeCertificate } from "../certificates/testing/openssl.ts";
import { makeEdgeClient } from "../clients/edgeClient.ts";
import { readEdgeCertificate } from "../edgeCertificate.ts";
import { makeHttpSolver } from "../reconcilers/certificates/httpSolver.ts";
import { orderCertificates } from "../reconcilers/certificates/orderCertificates.ts";
import { addCertificate } from "../store/domains/certificates.ts";
import { removeCustom, withdrawReplaced } from "../store/domains/customCertificates.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { silentLog } from "../testing/engine.ts";
import { startPebble } from "../testing/pebble.ts";
import { liveSite } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { certificateFolder } from "./certificateFiles.ts";
import { makePublisher, tableFile } from "./publishRoutes.ts";

const name = "shop.example.com";

/** An edge with TLS for the world's sites, and its publisher. */
async function startSecureEdge({ facts, own, services }: World) {
  const adminSocket = join(facts.dataFolder, "tls", "edge.sock");
  const folder = certificateFolder(facts.dataFolder);
  const edge = await startEdge({
    siteSuffix: "localhost",
    upstream: createFakeServing(),
    host: "127.0.0.1",
    port: 0,
    tls: { port: 0, readCertificate: (id) => readEdgeCertificate(folder, id, services.sealer) },
    adminSocket,
    tableFile: tableFile(facts.dataFolder),
    bodyFolder: join(facts.dataFolder, "edge", "bodies"),
    limits: {
      uploadBytes: 100_000,
      formBytes: 0,
      headSeconds: 15,
      requestSeconds: 60,
      connectionsPerNetwork: 10_000,
      bodyGraceSeconds: 10,
      unreadBytes: 1_000_000_000,
      silenceSeconds: 60,
      freezeSeconds: 20,
      holdSeconds: 20,
    },
    logs: createEnvironmentLogs({ folder: join(facts.dataFolder, "tls-logs") }),
    log: silentLog,
  });
  onTestFinished(() => edge.close(0));
  const publisher = makePublisher({
    database: own.database,
    runtime: services.runtime,
    edge: makeEdgeClient(adminSocket),
    dataFolder: facts.dataFolder,
    sealer: services.sealer,
    log: silentLog,
  });
  return { edge, publisher };
}

async function start() {
  const world = await makeWorld();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const { environment, companyId } = await liveSite(world);
  const domainId = await addOwnDomain(world.own.database, environment.id, { name, isWildcard: false });
  const seen = { verified_at: new Date(), points_here_at: new Date() };
  await world.own.database.updateTable("domains").set(seen).where("id", "=", domainId).execute();
  const { edge, publisher } = await startSecureEdge(world);
  await publisher.publish();
  const { sealer } = world.services;
  const transaction = () => world.own.database.transaction();

  /** Adds a custom certificate as the API does; returns its fingerprint. */
  async function addCustom(names = [name], owner = { companyId, environment, domainId }): Promise<string> {
    const read = readCustomCertificate({
      ...(await makeCertificate({ names })),
      names: names.slice(0, 1),
      now: new Date(),
    });
    if (!read.ok) throw new Error(read.problem.reason);
    const { certificate } = read;
    const id = randomUUID();
    const keySealed = sealer.seal(certificate.key, `certificate:${id}`);
    const { companyId: company, environment: place } = owner;
    const row = { id, companyId: company, environmentId: place.id, source: "custom" as const };
    await transaction().execute(async (inside) => {
      await addCertificate(inside, { ...row, certificate, keySealed });
      await withdrawReplaced(inside, owner.domainId, id);
    });
    await publisher.publish();
    return certificate.fingerprint;
  }

  /** The fingerprint of the certificate that a visitor gets, or null if the edge ends the handshake. */
  async function served(servername = name): Promise<string | null> {
    const port = edge.tlsPort ?? 0;
    const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
    try {
      await once(socket, "secureConnect");
      return socket.getPeerCertificate().fingerprint256.replaceAll(":", "").toLowerCase();
    } catch {
      return null;
    } finally {
      socket.destroy();
    }
  }

  return { world, edge, publisher, domainId, transaction, addCustom, served };
}

test("a custom certificate is served from the next handshake on, until it is replaced or removed with its key", async () => {
  const { world, domainId, transaction, addCustom, publisher, served } = await start();
  expect(await served()).toBeNull();
  const first = await addCustom();
  expect(await served()).toBe(first);
  const second = await addCustom();
  expect(second).not.toBe(first);
  expect(await served()).toBe(second);
  const folder = certificateFolder(world.facts.dataFolder);
  expect(await readdir(folder)).toHaveLength(1);
  await transaction().execute((inside) => removeCustom(inside, domainId));
  await publisher.publish();
  expect(await served()).toBeNull();
  expect(await readdir(folder)).toEqual([]);
});

test("a certificate is served for the names of its own environment only, whatever else it contains", async () => {
  const { world, addCustom, served } = await start();
  const mine = await addCustom();
  const other = await liveSite(world);
  const [wide, narrow] = ["example.com", "shop.example.net"];
  const addDomain = (more: { readonly name: string; readonly isWildcard: boolean }) =>
    addOwnDomain(world.own.database, other.environment.id, more);
  const owner = { ...other, domainId: await addDomain({ name: wide, isWildcard: true }) };
  const theirs = await addCustom([wide, name, `*.${wide}`, "elsewhere.example"], owner);
  expect([await served(wide), await served(`blog.${wide}`)]).toEqual([theirs, theirs]);
  expect([await served(), await served("elsewhere.example")]).toEqual([mine, null]);
  const second = { ...other, domainId: await addDomain({ name: narrow, isWildcard: false }) };
  const covering = await addCustom(["*.example.net"], second);
  expect([await served(narrow), await served("blog.example.net")]).toEqual([covering, null]);
});

test("the authority finds its challenge at the edge, and visitors get the certificate", async () => {
  const { world, edge, publisher, domainId, transaction, addCustom, served } = await start();
  const pebble = await startPebble({ httpPort: edge.port });
  onTestFinished(() => pebble[Symbol.asyncDispose]());
  const { database } = world.own;
  await orderCertificates({
    database,
    sealer: world.services.sealer,
    publisher,
    solvers: [makeHttpSolver({ database, publisher })],
    directory: pebble.directory,
    roots: [pebble.root],
    email: null,
    binding: null,
    registrableOf: () => "example.com",
    signal: new AbortController().signal,
  });
  const { fingerprint } = await database.selectFrom("certificates").select("fingerprint").executeTakeFirstOrThrow();
  expect(await served()).toBe(fingerprint);
  const own = await addCustom();
  expect(await served()).toBe(own);
  await transaction().execute((inside) => removeCustom(inside, domainId));
  await publisher.publish();
  expect(await served()).toBe(fingerprint);
});
