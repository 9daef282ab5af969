/** Certificates from `pebble`: ordered, renewed, refused, interrupted. */
import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Solver } from "../../certificates/acme/solver.ts";
import { certificateFolder } from "../../publishing/certificateFiles.ts";
import { tableFile } from "../../publishing/publishRoutes.ts";
import type { Database } from "../../store/database.ts";
import { addOwnDomain } from "../../store/testing/rows.ts";
import { type ChallengeServer, startChallengeServer } from "../../testing/challengeServer.ts";
import { type Pebble, startPebble } from "../../testing/pebble.ts";
import { liveSite } from "../../testing/sites.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { makeHttpSolver } from "./httpSolver.ts";
import { type OrderCertificatesOptions, orderCertificates } from "./orderCertificates.ts";

const day = 86_400_000;
const name = "shop.example.com";

let world: World;
let site: Awaited<ReturnType<typeof liveSite>>;
let pebble: Pebble;
let shown: ChallengeServer;
const database = (): Database => world.own.database;

beforeAll(async () => {
  shown = await startChallengeServer(database);
  pebble = await startPebble({ httpPort: shown.port });
});
afterAll(async () => {
  await pebble[Symbol.asyncDispose]();
  await shown[Symbol.asyncDispose]();
});
beforeEach(async () => {
  shown.unknown.clear();
  world = await makeWorld();
  site = await liveSite(world);
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

/** Adds a domain that is eligible for a certificate. */
async function addReady(more: { readonly name?: string; readonly isWildcard?: boolean } = {}): Promise<string> {
  const id = await addOwnDomain(database(), site.environment.id, { name, isWildcard: false, ...more });
  const seen = new Date();
  await database()
    .updateTable("domains")
    .set({ verified_at: seen, points_here_at: seen })
    .where("id", "=", id)
    .execute();
  return id;
}

function optionsWith(more: Partial<OrderCertificatesOptions> = {}): OrderCertificatesOptions {
  const { sealer, publisher } = world.services;
  return {
    database: database(),
    sealer,
    publisher,
    solvers: [makeHttpSolver({ database: database(), publisher })],
    directory: pebble.directory,
    roots: [pebble.root],
    email: "admin@example.com",
    binding: null,
    registrableOf: (each) => each.split(".").slice(-2).join("."),
    signal: new AbortController().signal,
    ...more,
  };
}

const certificates = () => database().selectFrom("certificates").selectAll().orderBy("created_at").execute();
const order = () => database().selectFrom("certificate_orders").selectAll().executeTakeFirstOrThrow();
const begun = async () => (await database().selectFrom("begun_orders").selectAll().execute()).length;
const table = async () => JSON.parse(await readFile(tableFile(world.facts.dataFolder), "utf8"));

describe("a domain that points here", () => {
  test("gets a certificate, which is published to the edge with its key", async () => {
    await addReady();
    await orderCertificates(optionsWith());
    const [certificate] = await certificates();
    if (!certificate) throw new Error((await order()).last_error ?? "no certificate");
    expect(certificate).toMatchObject({ names: [name], source: "acme", environment_id: site.environment.id });
    const file = await readFile(join(certificateFolder(world.facts.dataFolder), certificate.id));
    const { key, chain } = JSON.parse(world.services.sealer.open(file, `edge-certificate:${certificate.id}`));
    expect(new X509Certificate(chain).subjectAltName).toBe(`DNS:${name}`);
    expect(key).toContain("BEGIN PRIVATE KEY");
    expect(file.includes("PRIVATE KEY")).toBe(false);
    const { certificates: published, challenges } = await table();
    expect(published).toEqual([{ id: certificate.id, names: [name], notAfter: certificate.not_after.getTime() }]);
    expect(challenges).toEqual([]);
    expect(await order()).toMatchObject({ url: null, failures: 0, last_error: null, key_sealed: null });
  });

  test("gets one from an authority that requires an external account binding", async () => {
    const binding = { keyId: "customer-7", key: Buffer.from("a key of 32 bytes for a customer") };
    await using restricted = await startPebble({ httpPort: shown.port, binding });
    await addReady();
    const { directory, root } = restricted;
    const at = { directory, roots: [root] };
    await orderCertificates(optionsWith(at));
    expect((await order()).last_error).toContain("externalAccountBinding");
    const later = () => new Date(Date.now() + day);
    await orderCertificates(optionsWith({ ...at, binding, now: later }));
    expect((await certificates()).map((each) => each.names)).toEqual([[name]]);
  });

  test("gets its www. name too, unless the validation of that fails", async () => {
    shown.unknown.add("www.example.com");
    await addReady({ name: "example.com", isWildcard: true });
    await orderCertificates(optionsWith());
    expect((await certificates()).map((each) => each.names)).toEqual([["example.com"]]);
    await database().deleteFrom("certificates").execute();
    shown.unknown.clear();
    await orderCertificates(optionsWith({ now: () => new Date(Date.now() + day) }));
    expect((await certificates()).map((each) => each.names.toSorted())).toEqual([["example.com", "www.example.com"]]);
  });

  test("gets no certificate for its www. name if that is another environment's domain", async () => {
    await addReady({ name: "example.com", isWildcard: true });
    const other = await liveSite(world);
    await addOwnDomain(database(), other.environment.id, { name: "www.example.com" });
    await orderCertificates(optionsWith());
    expect((await certificates()).map((each) => each.names)).toEqual([["example.com"]]);
  });

  test("gets a renewal when a third of the lifetime is left, and not before; the old certificate is published until it expires", async () => {
    await addReady();
    await orderCertificates(optionsWith());
    const [first] = await certificates();
    if (!first) throw new Error("no certificate");
    const life = first.not_after.getTime() - first.not_before.getTime();
    const at = (part: number) => () => new Date(first.not_before.getTime() + life * part);
    await orderCertificates(optionsWith({ now: at(0.6) }));
    expect(await certificates()).toHaveLength(1);
    await orderCertificates(optionsWith({ now: at(0.67) }));
    const [, second, third] = await certificates();
    expect(third).toBeUndefined();
    expect((await table()).certificates.map(({ id }: { id: string }) => id)).toEqual([second?.id, first.id]);
    expect(await readdir(certificateFolder(world.facts.dataFolder))).toHaveLength(2);
  });

  test.each([
    ["is not served", { is_active: false }],
    ["points elsewhere", { points_here_at: null }],
    ["is a temporary domain", { setup_type: "temporary" as const }],
  ])("gets no certificate if it %s", async (_, columns) => {
    const id = await addReady();
    await database().updateTable("domains").set({ is_primary: false }).where("setup_type", "=", "temporary").execute();
    if ("setup_type" in columns) await database().deleteFrom("domains").where("setup_type", "=", "temporary").execute();
    await database().updateTable("domains").set(columns).where("id", "=", id).execute();
    await orderCertificates(optionsWith());
    expect(await begun()).toBe(0);
  });
});

describe("several processes", () => {
  test("create one order", async () => {
    await addReady();
    await Promise.all([orderCertificates(optionsWith()), orderCertificates(optionsWith())]);
    expect([(await certificates()).length, await begun()]).toEqual([1, 1]);
  });

  test("complete the order of a process that stopped in the middle", async () => {
    await addReady();
    const stopping = new AbortController();
    const solver: Solver = {
      type: "http-01",
      canSolve: () => true,
      publish: async () => {
        stopping.abort();
        stopping.signal.throwIfAborted();
      },
    };
    await orderCertificates(optionsWith({ solvers: [solver], signal: stopping.signal }));
    const { url } = await order();
    expect(url).toMatch(/^https:/);
    await orderCertificates(optionsWith());
    expect([(await certificates()).length, await begun()]).toEqual([1, 1]);
  });

  test("continue the order of a killed process when its claim expires", async () => {
    const id = await addReady();
    const never: Solver = { type: "http-01", canSolve: () => true, publish: () => Promise.reject(new Error("killed")) };
    await expect(orderCertificates(optionsWith({ solvers: [never] }))).rejects.toThrow("killed");
    await orderCertificates(optionsWith());
    expect(await certificates()).toHaveLength(0);
    const past = new Date(Date.now() - 1_000);
    await database()
      .updateTable("certificate_orders")
      .set({ claimed_until: past })
      .where("domain_id", "=", id)
      .execute();
    await orderCertificates(optionsWith());
    expect([(await certificates()).length, await begun()]).toEqual([1, 1]);
  });
});

describe("failures", () => {
  test("a refusal is stored with the authority's message, and retried later", async () => {
    shown.unknown.add(name);
    await addReady();
    await orderCertificates(optionsWith());
    const refused = await order();
    expect(refused).toMatchObject({ failures: 1, url: null });
    expect(refused.last_error).toMatch(/^The certificate authority refused it\. shop\.example\.com: /);
    await orderCertificates(optionsWith());
    expect(await begun()).toBe(1);
    shown.unknown.clear();
    await orderCertificates(optionsWith({ now: () => new Date(Date.now() + 10 * 60_000) }));
    expect(await certificates()).toHaveLength(1);
    expect(await order()).toMatchObject({ failures: 0, last_error: null });
  });

  test("an authority that is down is retried later", async () => {
    await addReady();
    await orderCertificates(optionsWith({ directory: "https://127.0.0.1:1/dir" }));
    const { last_error, next_try_at, failures } = await order();
    expect(last_error).toMatch(/^The certificate authority at 127\.0\.0\.1:1 did not answer/);
    expect(next_try_at.getTime()).toBeGreaterThan(Date.now());
    expect(failures).toBe(1);
    await orderCertificates(optionsWith({ now: () => new Date(Date.now() + 10 * 60_000) }));
    expect(await certificates()).toHaveLength(1);
  });

  test("at most ten orders per hour are created for a registrable domain", async () => {
    const rows = Array.from({ length: 10 }, () => ({ registrable: "example.com" }));
    await database().insertInto("begun_orders").values(rows).execute();
    await addReady();
    await orderCertificates(optionsWith());
    expect(await order()).toMatchObject({ failures: 0, last_error: expect.stringContaining("within an hour") });
    expect(await certificates()).toHaveLength(0);
  });
});
