/** Crash test subjects for domains: a live site with a domain, and checks of both. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { AddDomainInput } from "../operations/domains/addDomain.ts";
import type { ChangePrimaryDomainInput } from "../operations/domains/changePrimaryDomain.ts";
import type { DeleteDomainInput } from "../operations/domains/deleteDomain.ts";
import type { OperationRequest } from "../operations/engine/accept.ts";
import type { Subject } from "../operations/faults/testing/crashHarness.ts";
import { systemActor } from "../store/company/activity.ts";
import { domainsOfEnvironment } from "../store/domains/domains.ts";
import { addOwnDomain } from "../store/testing/rows.ts";
import { visit } from "./edge.ts";
import { liveSite } from "./sites.ts";
import type { World } from "./world.ts";

interface Known {
  readonly environment: { readonly id: string; readonly number: number };
  /** The site's address under the installation's own domain. */
  readonly address: string;
  readonly domain: { readonly id: string; readonly name: string };
  /** The site's address under its own domain. */
  readonly next: string;
  readonly token: string;
}

/** What the checks need to know about a request. */
const known = new WeakMap<OperationRequest, Known>();

/** Returns the data prepared for the request. */
function domainOf(request: OperationRequest): Known {
  const facts = known.get(request);
  if (!facts) throw new Error("This request was not prepared here");
  return facts;
}

/** Creates a site with a domain that is already served if `isActive`. */
async function prepare(
  world: World,
  isActive: boolean,
  requestOf: (facts: Known, temporaryId: string) => Pick<OperationRequest, "kind" | "input">,
): Promise<OperationRequest> {
  const { database } = world.own;
  const { companyId, siteId, environment, address, name: siteName } = await liveSite(world);
  const [temporary] = await domainsOfEnvironment(database, environment.id);
  const name = `${randomUUID()}.example`;
  const id = await addOwnDomain(database, environment.id, { name, isActive });
  await world.services.publisher.publish();
  const next = `http://${name}:${world.facts.edgePort}`;
  const facts = { environment, address, domain: { id, name }, next, token: randomUUID() };
  const request: OperationRequest = {
    ...requestOf(facts, temporary?.id ?? ""),
    companyId,
    siteId,
    environmentId: environment.id,
    locks: [environment.id],
    whenBusy: "fail",
    actor: systemActor,
    activityParameters: { siteName, environmentName: "Live", domainName: name },
  };
  known.set(request, facts);
  return request;
}

interface Outcome {
  /** Null if the row is gone. */
  readonly isActive: boolean | null;
  /** The edge's HTTP status for the domain. */
  readonly status: number;
}

async function differences(world: World, request: OperationRequest, outcome: Outcome): Promise<string[]> {
  const { environment, domain, next, address } = domainOf(request);
  const own = await domainsOfEnvironment(world.own.database, environment.id);
  const found = {
    isActive: own.find(({ id }) => id === domain.id)?.isActive ?? null,
    status: (await visit(world.facts.edgePort, next)).status,
    others: own.filter(({ id, isActive }) => id !== domain.id && isActive).length,
    otherStatus: (await visit(world.facts.edgePort, address)).status,
  };
  const wanted = { ...outcome, others: 1, otherStatus: 200 };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}

export const addingDomain: Subject = {
  kind: "addDomain",
  prepare: (world) =>
    prepare(world, false, ({ domain }) => ({
      kind: "addDomain",
      input: { domains: [domain], certificateId: null, isServedAtOnce: true } satisfies AddDomainInput,
    })),
  finished: (world, request) => differences(world, request, { isActive: true, status: 200 }),
  undone: (world, request) => differences(world, request, { isActive: null, status: 404 }),
};

export const deletingDomain: Subject = {
  kind: "deleteDomain",
  prepare: (world) =>
    prepare(world, true, ({ environment, domain }) => ({
      kind: "deleteDomain",
      input: { environmentId: environment.id, domainIds: [domain.id] } satisfies DeleteDomainInput,
    })),
  finished: (world, request) => differences(world, request, { isActive: null, status: 404 }),
  undone: (world, request) => differences(world, request, { isActive: true, status: 200 }),
};

export const changingPrimaryDomain: Subject = {
  kind: "changePrimaryDomain",
  prepare: (world) =>
    prepare(world, true, ({ environment, address, next, token, domain }, temporaryId) => ({
      kind: "changePrimaryDomain",
      input: {
        token,
        target: environment,
        address: next,
        addressBefore: address,
        isEverywhere: true,
        domain: { ...domain, isHttps: false },
        former: { id: temporaryId, name: new URL(address).hostname, isHttps: false },
      } satisfies ChangePrimaryDomainInput,
    })),
  finished: (world, request) => addressDifferences(world, request, true),
  undone: (world, request) => addressDifferences(world, request, false),
};

/** Compares the site's address in the database, in WordPress and at the edge with the wanted one. */
async function addressDifferences(world: World, request: OperationRequest, isMoved: boolean): Promise<string[]> {
  const { environment, address, next, domain, token } = domainOf(request);
  const { runtime } = world.services;
  const own = await domainsOfEnvironment(world.own.database, environment.id);
  const layout = await runtime.layout(environment);
  const folder = path.join(layout?.documentRoot ?? "", "../../..", "current");
  const text = await readFile(path.join(folder, "database", "database.json"), "utf8");
  const backups = await world.own.database
    .selectFrom("backups")
    .select(["manifest", "address"])
    .where("environment_id", "=", environment.id)
    .execute();
  const row = world.own.database.selectFrom("environments").select("is_frozen").where("id", "=", environment.id);
  const found = {
    primary: own.filter(({ isPrimary }) => isPrimary).map(({ id }) => id === domain.id),
    isNew: text.includes(next),
    isOld: text.includes(address),
    backups: backups.map((backup) => [backup.manifest !== null, backup.address]),
    isFrozen: (await row.executeTakeFirst())?.is_frozen,
    staged: (await runtime.staged(environment, token)) !== null,
    statuses: await Promise.all([address, next].map(async (each) => (await visit(world.facts.edgePort, each)).status)),
  };
  const wanted = {
    primary: [isMoved],
    isNew: isMoved,
    isOld: !isMoved,
    backups: isMoved ? [[true, address]] : [],
    isFrozen: false,
    staged: false,
    statuses: [200, 200],
  };
  return isDeepStrictEqual(found, wanted)
    ? []
    : [`found ${JSON.stringify(found)} instead of ${JSON.stringify(wanted)}`];
}
