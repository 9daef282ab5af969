/**
 * The whole HTTP API in process, with its own database. Operations are accepted but not run: the test makes each of
 * them succeed or fail.
 */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { createTrustedProxies } from "@sitewright/edge/http/trustedProxies.ts";
import { fakeCapabilities } from "@sitewright/runtimes/fake/runtime.ts";
import { createTurns } from "@sitewright/runtimes/turns.ts";
import { makeDownloadTokens } from "@sitewright/server/app/backups/downloadTokens.ts";
import { createCompany, type NewCompany } from "@sitewright/server/app/company/companies.ts";
import { makeEventFeeds } from "@sitewright/server/app/company/eventFeeds.ts";
import { makeIdentities } from "@sitewright/server/app/company/identities.ts";
import { makeKeyUse } from "@sitewright/server/app/company/keyUse.ts";
import { makeRefusedKeys } from "@sitewright/server/app/company/refusedKeys.ts";
import { makeRepeatedActivity } from "@sitewright/server/app/company/repeatedActivity.ts";
import type { App } from "@sitewright/server/app/context.ts";
import { fixedKeys } from "@sitewright/server/keyFile.ts";
import type { FailureKind } from "@sitewright/server/operations/engine/operation.ts";
import type { OperationWaits } from "@sitewright/server/operations/engine/wait.ts";
import { makeBackupLists } from "@sitewright/server/store/backups/backupList.ts";
import { beginBackup, finishBackup, type NewBackup } from "@sitewright/server/store/backups/backups.ts";
import { keepDeletedEnvironments } from "@sitewright/server/store/backups/deletedEnvironments.ts";
import { keepDeletedSite } from "@sitewright/server/store/backups/deletedSites.ts";
import { keysChangedChannel } from "@sitewright/server/store/company/apiKeys.ts";
import type { Database, DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { endOperation } from "@sitewright/server/store/operations.ts";
import { makeCompanyPackageLists } from "@sitewright/server/store/packages/companyPackages.ts";
import { removeEnvironmentRows } from "@sitewright/server/store/sites/environments.ts";
import { removeSiteRows } from "@sitewright/server/store/sites/siteStates.ts";
import { makeSiteRead } from "@sitewright/server/store/sites/sites.ts";
import { makeSnapshots } from "@sitewright/server/store/snapshots.ts";
import { createTestDatabase, type TestDatabase } from "@sitewright/server/testing/database.ts";
import { silentLog, type TestOperations, testOperations } from "@sitewright/server/testing/engine.ts";
import type { FastifyBaseLogger, FastifyInstance, InjectOptions } from "fastify";
import type { Pool } from "pg";
import { afterAll, beforeAll } from "vitest";
import type { ConnectionLimits } from "../connections.ts";
import type { ConsolePaths } from "../consoleFiles.ts";
import type { Limits } from "../rateLimits.ts";
import { buildServer } from "../server.ts";
import { checkResponses } from "./documented.ts";

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of any response, and fail if they are missing
  readonly body: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
}

export interface CallOptions {
  readonly body?: unknown;
  /** Null: no Authorization header. Default: the key of `company`. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

interface EnvironmentIds {
  readonly id: string;
  /** The site's live environment. */
  readonly liveId: string;
}

export interface TestServer {
  readonly server: FastifyInstance;
  readonly database: Database;
  readonly pool: Pool;
  readonly keyUse: App["keyUse"];
  readonly identities: App["identities"];
  readonly exports: App["exports"];
  readonly operations: TestOperations;
  readonly company: NewCompany;
  readonly otherCompany: NewCompany;
  call(method: NonNullable<InjectOptions["method"]>, path: string, options?: CallOptions): Promise<Reply>;
  /** Writes the entries of repeated events to the activity log. */
  flushActivity(): Promise<void>;
  /** Makes an operation that adds a site or environment succeed. */
  succeed(operationId: string): Promise<void>;
  fail(operationId: string, publicError: string, failureKind?: FailureKind): Promise<void>;
  /** Adds a site and makes the operation succeed. Returns the site's id. */
  addSite(fields?: Readonly<Record<string, unknown>>, key?: string): Promise<string>;
  /** Adds an environment to the site. Returns its id and that of the live environment. */
  addEnvironment(siteId: string, key?: string): Promise<EnvironmentIds>;
  /** Adds a site with a live and another environment. */
  addSiteWithEnvironment(key?: string): Promise<EnvironmentIds & { readonly siteId: string }>;
  /** Adds a finished backup of the environment. Returns its id. */
  addBackup(environmentId: string, more?: Partial<NewBackup>): Promise<number>;
  /** Deletes the site as the API and the operation do, with backups. */
  deleteSite(siteId: string, key?: string): Promise<void>;
  /** Deletes the environment as the API and the operation do, with a backup. */
  deleteEnvironment(environmentId: string, key?: string): Promise<void>;
  /** Creates an API key of the company through the API. */
  addKey(fields: Readonly<Record<string, unknown>>): Promise<{ readonly id: string; readonly token: string }>;
  /** Listens on a free port of 127.0.0.1. Returns the port. */
  listen(): Promise<number>;
}

export interface TestServerOptions {
  /** Opens the pool of the server. Default: a direct one. The caller closes it. */
  readonly openDatabase?: (url: string) => Promise<Pick<TestDatabase, "database" | "pool">>;
  readonly limits?: Partial<Limits & ConnectionLimits>;
  readonly log?: FastifyBaseLogger;
  readonly untilEnded?: OperationWaits["untilEnded"];
  /** Default: every environment is empty. */
  readonly listFiles?: App["listFiles"];
  /** Default: every log is empty. */
  readonly readLog?: App["readLog"];
  /** Pause between two signs of life of a stream of events. Default: 20 s. */
  readonly eventBeatMilliseconds?: number;
  /** Default: the edge does not answer. */
  readonly edgeNumbers?: App["edgeNumbers"];
  /** Default: nothing is found, and DNS does not answer. */
  readonly installation?: App["installation"];
  /** Default: does nothing. */
  readonly publishRoutes?: App["publishRoutes"];
  /** Default: no scheduled tasks. */
  readonly cronEvents?: App["cronEvents"];
  /** Default: a source that offers version 9.0 of every package. */
  readonly packageSource?: App["packageSource"];
  /** Default: does nothing. */
  readonly readPackages?: (database: Database) => App["readPackages"];
  /** Default: every user with "admin" in their address is an administrator; no other users exist. */
  readonly findUser?: App["findUser"];
  /** Default: all tasks succeed. */
  readonly siteTasks?: App["siteTasks"];
  /** Default: DNS has no records. */
  readonly lookUp?: App["lookUp"];
  /** Default: no files differ. */
  readonly compareBackups?: App["compareBackups"];
  /** Default: there are no zips. */
  readonly openDownload?: App["openDownload"];
  /** Default: `thisMachine`. */
  readonly regions?: App["regions"];
  /** Default: those of the fake runtime. */
  readonly capabilitiesOf?: App["capabilitiesOf"];
  /** Absent: the playground only. */
  readonly runtimes?: App["runtimes"];
  /** Default: true. */
  readonly hasMailServer?: boolean;
  /** Default: none. */
  readonly signInProvider?: App["signInProvider"];
  /** Default: true. */
  readonly hasAdvisories?: boolean;
  /** Default: true. */
  readonly hasBrowser?: boolean;
  /** Default: there are no screenshots. */
  readonly findScreenshots?: App["findScreenshots"];
  /** Default: no token. */
  readonly metricsToken?: string;
  /** Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Default: none. */
  readonly securityTxt?: () => string;
  /** Default: true. */
  readonly knowsPlaces?: boolean;
  /** Default: there is no build of the console. */
  readonly console?: ConsolePaths;
}

const findUser: App["findUser"] = async (_environment, email) => ({
  user: email.includes("admin") ? { id: 1, login: "admin", isAdministrator: true } : null,
});

const siteTasks: App["siteTasks"] = {
  run: async () => ({ status: 200, body: '{"created":2}', errors: "", reason: null }),
  offerLogin: async () => true,
};

const packageSource: App["packageSource"] = {
  url: new URL("https://packages.example/"),
  newest: async () => new Map(),
  find: async (_kind, slug) => ({
    slug,
    newest: "9.0",
    versions: [{ version: "9.0", url: new URL("https://packages.example/zip") }],
  }),
  cores: async () => [{ version: "99.0", url: new URL("https://packages.example/zip") }],
};

/** The settings of every test server. */
export const testSettings = {
  host: "127.0.0.1",
  siteSuffix: "localhost",
  apiName: "api.sitewright.example",
  apiHost: "127.0.0.1",
  dnsNames: ["ns1.localhost", "ns2.localhost"],
  publicPort: 8081,
  publicTlsPort: 8443,
  edgeAddresses: ["203.0.113.7", "2001:db8::7"],
  endedPhpVersions: ["8.2"],
};

/** The only region, unless the settings name others. */
const thisMachine = { id: "this-machine", name: "This machine", runtime: "playground" };

const restorableDays = 14;
const downloadKey = Buffer.alloc(32, "of every test server");

const noFiles = { count: 0, bytes: 0, listed: [] };

const noSteps = { kind: "addSite", steps: [], succeeded: async () => null, failed: async () => undefined };

/** A certificate authority that does not exist. */
export const acmeUrl = "https://ca.example/directory";

/** A valid body of `POST /sites`. */
export function siteFields(companyId: string, more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    company: companyId,
    display_name: `Site ${randomUUID().slice(0, 8)}`,
    region: "europe-west3",
    install_mode: "new",
    ...wordpressFields,
    ...more,
  };
}

/** Valid values for the fields of a new WordPress. */
export const wordpressFields = {
  admin_email: "ada@example.com",
  admin_password: "correct horse battery staple",
  admin_user: "ada",
  site_title: "Ada's notes",
  wp_language: "en_US",
};

/** One server and two companies for all tests of a file. */
export function useTestServer(options: TestServerOptions = {}): { readonly current: TestServer } {
  let made: (TestServer & AsyncDisposable) | undefined;
  beforeAll(async () => {
    made = await startTestServer(options);
  });
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });
  return {
    get current() {
      if (!made) throw new Error("The test server exists only while tests run");
      return made;
    },
  };
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer & AsyncDisposable> {
  const own = await createTestDatabase();
  const { url, drop } = own;
  const { database, pool } = (await options.openDatabase?.(url)) ?? own;
  const operations = await testOperations({ url, database, pool, addSite: noSteps });
  const repeatedActivity = makeRepeatedActivity(database);
  const refusedKeys = makeRefusedKeys(pool, repeatedActivity);
  const keyUse = makeKeyUse(pool);
  const identities = makeIdentities(pool);
  operations.notifications.on(keysChangedChannel, identities.forgetKeys);
  const exports = createTurns({ total: 2, perParty: 1 });
  const server = buildServer({
    app: {
      settings: testSettings,
      limits: {
        maxWorkers: 8,
        maxPhpMemoryMb: 1024,
        requestDeadlineSeconds: 60,
        maxRequestSeconds: 300,
        diskQuotaBytes: null,
      },
      runtimes: options.runtimes ?? ["playground"],
      capabilitiesOf: options.capabilitiesOf ?? (() => fakeCapabilities),
      listFiles: options.listFiles ?? (async () => []),
      readLog: options.readLog ?? (async () => ({ text: "", isComplete: true })),
      edgeNumbers: options.edgeNumbers ?? (async () => null),
      dataFolder: tmpdir(),
      installation: options.installation ?? {
        version: "0.0.0",
        examine: async () => ({ findings: [], at: new Date() }),
        dnsAnswers: async () => false,
      },
      publishRoutes: options.publishRoutes ?? (async () => undefined),
      cronEvents: options.cronEvents ?? (async () => ({ sites: [], problem: null })),
      readPackages: options.readPackages?.(database) ?? (async () => undefined),
      findUser: options.findUser ?? findUser,
      readings: createTurns({ total: 4 }),
      passwordTurns: createTurns({ total: 2, perParty: 1, extra: 0 }),
      transactions: createTurns({ total: 7, perParty: 4, extra: 1 }),
      exports,
      siteTasks: options.siteTasks ?? siteTasks,
      packageSource: options.packageSource === undefined ? packageSource : options.packageSource,
      lookUp: options.lookUp ?? (async () => []),
      pool,
      identities,
      readSite: makeSiteRead(pool),
      snapshots: makeSnapshots(pool),
      repeatedActivity,
      refusedKeys,
      backupLists: makeBackupLists(pool),
      companyPackages: makeCompanyPackageLists(pool),
      database,
      acceptOperation: operations.accept,
      operationWaits: { ...operations.waits, ...(options.untilEnded && { untilEnded: options.untilEnded }) },
      eventFeeds: makeEventFeeds({
        database,
        notifications: operations.notifications,
        log: silentLog,
        ...(options.eventBeatMilliseconds && { beatMilliseconds: options.eventBeatMilliseconds }),
      }),
      downloadTokens: makeDownloadTokens(fixedKeys(downloadKey)),
      downloadHours: 72,
      keyUse,
      sealer: operations.sealer,
      compareBackups: options.compareBackups ?? (async () => ({ added: noFiles, changed: noFiles, removed: noFiles })),
      openDownload: options.openDownload ?? (async () => null),
      acmeUrl,
      regions: options.regions ?? [thisMachine],
      hasMailServer: options.hasMailServer ?? true,
      signInProvider: options.signInProvider ?? null,
      hasAdvisories: options.hasAdvisories ?? true,
      hasBrowser: options.hasBrowser ?? true,
      findScreenshots: options.findScreenshots ?? (async () => []),
      knowsPlaces: options.knowsPlaces ?? true,
    },
    limits: {
      rateLimitPerMinute: 1_000_000,
      creationLimitPerMinute: 1_000_000,
      connectionsPerAddress: 1_000_000,
      ...options.limits,
    },
    metricsToken: options.metricsToken ?? null,
    securityTxt: options.securityTxt ?? null,
    trustedProxies: createTrustedProxies(options.trustedProxies ?? []),
    console: options.console ?? { folder: "/nonexistent", failure: "/nonexistent" },
    log: options.log ?? silentLog,
  });
  const problems = checkResponses(server);
  const company = await createCompany(database, { name: "Ours" });
  const otherCompany = await createCompany(database, { name: "Theirs" });

  const call: TestServer["call"] = async (method, path, { body, key = company.api_key, headers = {} } = {}) => {
    const answer = await server.inject({
      method,
      url: path,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { payload: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const isJson = String(answer.headers["content-type"]).startsWith("application/json");
    const parsed = isJson && answer.body !== "" ? JSON.parse(answer.body) : null;
    return { status: answer.statusCode, body: parsed, text: answer.body, headers: answer.headers };
  };

  const end = (operationId: string, ending: Parameters<typeof endOperation>[2]) =>
    database.transaction().execute((transaction) => endOperation(transaction, operationId, ending));

  const succeed = async (operationId: string) => {
    const { site_id: siteId } = await database
      .selectFrom("operations")
      .select("site_id")
      .where("id", "=", operationId)
      .executeTakeFirstOrThrow();
    await database.updateTable("sites").set({ state: "live" }).where("id", "=", siteId).execute();
    await database.updateTable("environments").set({ state: "serving" }).where("site_id", "=", siteId).execute();
    await end(operationId, { state: "succeeded", result: { address: "http://test.localhost:8081" } });
  };

  const addBackup: TestServer["addBackup"] = async (environmentId, more = {}) => {
    const facts = { name: "Test", note: null, type: "manual", address: "http://test.localhost" } as const;
    const expiresAt = new Date(Date.now() + 86_400_000);
    const wish = { environmentId, operationId: randomUUID(), expiresAt, ...facts, ...more };
    const backup = await beginBackup(database, wish);
    if (backup === null) throw new Error(`There is no environment ${environmentId}`);
    await finishBackup(database, backup, { manifest: Buffer.alloc(32), files: 1, bytes: 1_000, addedBytes: 1_000 });
    return backup.id;
  };

  /** Does what the deleting operation does: a backup of each environment, then `keep` and the end of the operation. */
  async function deleteAs(
    path: string,
    key: string,
    keep: (transaction: DatabaseTransaction, operationId: string) => Promise<void>,
  ): Promise<void> {
    const answer = await call("DELETE", path, { key });
    if (answer.status !== 202) throw new Error(`DELETE ${path} answered ${answer.status}: ${answer.text}`);
    const operationId = answer.body.operation_id;
    const locks = database.selectFrom("environment_locks").select("environment_id");
    for (const { environment_id: id } of await locks.where("operation_id", "=", operationId).execute()) {
      await addBackup(id, { operationId, type: "system-generated", name: "Before the deletion" });
    }
    await database.transaction().execute((transaction) => keep(transaction, operationId));
    await end(operationId, { state: "succeeded", result: null });
  }

  const addSite: TestServer["addSite"] = async (fields = {}, key = company.api_key) => {
    const companyId = key === otherCompany.api_key ? otherCompany.company_id : company.company_id;
    const answer = await call("POST", "/v2/sites", { body: siteFields(companyId, fields), key });
    if (answer.status !== 202) throw new Error(`POST /sites answered ${answer.status}: ${answer.text}`);
    await succeed(answer.body.operation_id);
    const operation = await call("GET", `/v2/operations/${answer.body.operation_id}`, { key });
    return operation.body.data.idSite;
  };

  const addEnvironment: TestServer["addEnvironment"] = async (siteId, key = company.api_key) => {
    const path = `/v2/sites/${siteId}/environments/plain`;
    const body = { display_name: `Staging ${randomUUID().slice(0, 8)}`, is_premium: false };
    const answer = await call("POST", path, { body, key });
    if (answer.status !== 202) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
    await succeed(answer.body.operation_id);
    const { site } = (await call("GET", `/v2/sites/${siteId}`, { key })).body;
    return { id: site.environments[1].id, liveId: site.environments[0].id };
  };

  return {
    server,
    database,
    pool,
    keyUse,
    identities,
    exports,
    operations,
    company,
    otherCompany,
    call,
    succeed,
    fail: (operationId, publicError, failureKind = null) =>
      end(operationId, { state: "failed", publicError, failureKind }),
    addSite,
    addEnvironment,
    addSiteWithEnvironment: async (key) => {
      const siteId = await addSite({}, key);
      return { siteId, ...(await addEnvironment(siteId, key)) };
    },
    flushActivity: refusedKeys.flush,
    addBackup,
    deleteSite: (siteId, key = company.api_key) =>
      deleteAs(`/v2/sites/${siteId}`, key, async (transaction, operationId) => {
        await keepDeletedSite(transaction, siteId, { operationId, restorableDays });
        await removeSiteRows(transaction, siteId);
      }),
    deleteEnvironment: (environmentId, key = company.api_key) =>
      deleteAs(`/v2/sites/environments/${environmentId}`, key, async (transaction, operationId) => {
        const deletion = { operationId, restorableDays, wentWithSite: false };
        await keepDeletedEnvironments(transaction, [environmentId], deletion);
        await removeEnvironmentRows(transaction, environmentId);
      }),
    addKey: async (fields) => {
      const path = `/v2/company/${company.company_id}/api-keys`;
      const answer = await call("POST", path, { body: { name: "Test", ...fields } });
      if (answer.status !== 201) throw new Error(`POST ${path} answered ${answer.status}: ${answer.text}`);
      return { id: answer.body.api_key.id, token: answer.body.token };
    },
    listen: async () => {
      await server.listen({ host: "127.0.0.1", port: 0 });
      return portOf(server.server.address());
    },
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await operations[Symbol.asyncDispose]();
      await drop();
      if (problems().size > 0) throw new Error(`Undocumented responses:\n${[...problems()].join("\n")}`);
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("Not listening on a port");
  return address.port;
}
