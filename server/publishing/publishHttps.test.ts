/** HTTPS redirects in the edge's table. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { EdgeHost, EdgeTable } from "@sitewright/edge/tables/table.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ForceHttps } from "../store/database.ts";
import { addCertificate } from "../store/domains/certificates.ts";
import { removeUselessCertificates } from "../store/domains/domainCertificates.ts";
import { removeDomains, setPrimaryDomain } from "../store/domains/domains.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { setForceHttps } from "../store/traffic/forceHttps.ts";
import { liveSite } from "../testing/sites.ts";
import { makeWorld, type World } from "../testing/world.ts";
import { tableFile } from "./publishRoutes.ts";

const day = 86_400_000;
const name = "shop.example.com";

let world: World;
let site: Awaited<ReturnType<typeof liveSite>>;
let domainId: string;
beforeEach(async () => {
  world = await makeWorld();
  site = await liveSite(world);
  domainId = await addOwnDomain(world.own.database, site.environment.id, { name });
});
afterEach(async () => {
  await world[Symbol.asyncDispose]();
});

const transaction = () => world.own.database.transaction();

async function addCertificateFor(names: readonly string[], days = 1): Promise<string> {
  const id = randomUUID();
  const notAfter = new Date(Date.now() + days * day);
  const certificate = { names, chain: "", notBefore: new Date(Date.now() - 9 * day), notAfter, fingerprint: id };
  const place = { companyId: site.companyId, environmentId: site.environment.id };
  await transaction().execute((inside) =>
    addCertificate(inside, { id, ...place, source: "custom", certificate, keySealed: Buffer.alloc(1) }),
  );
  return id;
}

async function force(forceHttps: ForceHttps | null): Promise<Record<string, EdgeHost["forceHttps"]>> {
  await transaction().execute((inside) => setForceHttps(inside, site.environment.id, forceHttps));
  const { hosts } = await published();
  return Object.fromEntries(hosts.map((host) => [host.name, host.forceHttps]));
}

async function published(): Promise<EdgeTable> {
  await world.services.publisher.publish();
  return JSON.parse(await readFile(tableFile(world.facts.dataFolder), "utf8"));
}

const temporary = () => new URL(site.address).hostname;

describe("each name", () => {
  test("is redirected if there is a certificate for it, and served over HTTP otherwise", async () => {
    await addCertificateFor([name]);
    expect(await force("same")).toEqual({ [name]: "same" });
    await addCertificateFor(["*.shop.example.com"]);
    expect(await force("same")).toEqual({ [name]: "same", [`*.${name}`]: "same" });
    expect(await force(null)).toEqual({});
  });

  test("is also redirected with a wildcard certificate, but not with one that is expired or of another environment", async () => {
    await addCertificateFor([name], -1);
    const other = await liveSite(world);
    const id = await addCertificateFor([name]);
    const place = { environment_id: other.environment.id };
    await world.own.database.updateTable("certificates").set(place).where("id", "=", id).execute();
    expect(await force("same")).toEqual({});
    await addCertificateFor(["*.example.com"]);
    expect(await force("same")).toEqual({ [name]: "same" });
  });
});

describe("redirects to the primary domain", () => {
  test("apply to all names if there is a certificate for the primary domain", async () => {
    await addCertificateFor([name]);
    expect(await force("primary")).toEqual({});
    await setPrimaryDomain(world.own.database, site.environment.id, { id: domainId, isHttps: true });
    expect(await force("primary")).toEqual({ [name]: "primary", [`*.${name}`]: "primary", [temporary()]: "primary" });
    expect((await published()).environments[0]?.primaryHost).toBe(name);
  });
});

test("certificates are removed with the last domain that they cover", async () => {
  const kept = await addCertificateFor([temporary()]);
  const useless = [await addCertificateFor([name]), await addCertificateFor(["a.shop.example.com"])];
  const left = async () => {
    await transaction().execute((inside) => removeUselessCertificates(inside, site.environment.id));
    const rows = await world.own.database.selectFrom("certificates").select("id").execute();
    return rows.map(({ id }) => id).toSorted();
  };
  expect(await left()).toEqual([kept, ...useless].toSorted());
  await transaction().execute((inside) => removeDomains(inside, [domainId]));
  expect(await left()).toEqual([kept]);
});
