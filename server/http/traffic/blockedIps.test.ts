import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EdgeTable } from "@sitewright/edge/tables/table.ts";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeEdgeClient } from "../../clients/edgeClient.ts";
import { makePublisher, type Publisher, tableFile } from "../../publishing/publishRoutes.ts";
import { makeSealer } from "../../sealing.ts";
import { startTestEdge, type TestEdge, visit } from "../../testing/edge.ts";
import { silentLog } from "../../testing/engine.ts";
import { useTestServer } from "../testing/server.ts";

const path = "/v2/sites/tools/denied-ips";
let publish: () => Promise<void> = async () => undefined;
const test = useTestServer({ publishRoutes: () => publish() });

const put = (environmentId: string, ipList: unknown, headers = {}) =>
  test.current.call("PUT", path, { body: { environment_id: environmentId, ip_list: ipList }, headers });

async function listed(environmentId: string): Promise<readonly string[]> {
  const { body } = await test.current.call("GET", `${path}?environment_id=${environmentId}`);
  expect(body.environment.id).toBe(environmentId);
  return body.environment.ip_list;
}

describe("the list of blocked addresses", () => {
  it("is empty by default", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    expect([await listed(id), await listed(liveId)]).toEqual([[], []]);
  });

  it("is replaced as a whole, in the shortest form, without duplicates", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const sent = ["2001:DB8:0::1", "203.0.113.7", "::ffff:203.0.113.7", "203.0.113.7/32", "198.51.100.0/24"];
    const answer = await put(id, sent);
    expect([answer.status, answer.body]).toEqual([200, { result: null }]);
    expect(await listed(id)).toEqual(["2001:db8::1", "203.0.113.7", "198.51.100.0/24"]);
    await put(id, ["10.0.0.0/8"]);
    expect(await listed(id)).toEqual(["10.0.0.0/8"]);
    await put(id, []);
    expect(await listed(id)).toEqual([]);
    expect(await listed(liveId)).toEqual([]);
  });

  it("is not changed if entries are invalid, and the error names all of them", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await put(id, ["203.0.113.7"]);
    const answer = await put(id, ["203.0.113.8", "1.2.3.4/33", "example.com", "::/129"]);
    expect(answer.body).toEqual({
      message: '"1.2.3.4/33" in ip_list must have a whole number from 1 to 32 after the slash.',
      status: 400,
      data: {
        code: "not_an_address",
        errors: [
          { path: "/ip_list/1", message: "must have a whole number from 1 to 32 after the slash" },
          {
            path: "/ip_list/2",
            message: "must be an IP address such as 203.0.113.7 or 2001:db8::1, or a network such as 203.0.113.0/24",
          },
          { path: "/ip_list/3", message: "must have a whole number from 1 to 128 after the slash" },
        ],
      },
    });
    expect(await listed(id)).toEqual(["203.0.113.7"]);
  });

  it.each([
    ["omitted", undefined, "/ip_list"],
    ["null", null, "/ip_list"],
    ["a text", "203.0.113.7", "/ip_list"],
    ["numbers", [1], "/ip_list/0"],
    ["lists", ["203.0.113.7", ["203.0.113.8"]], "/ip_list/1"],
    ["too long texts", ["203.0.113.7", "x".repeat(65)], "/ip_list/1"],
    ["too many", Array.from({ length: 1_001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`), "/ip_list"],
    ["far too many", Array.from({ length: 60_000 }, () => "203.0.113.7"), "/ip_list"],
  ])("is refused if it is %s", async (_, ipList, place) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await put(id, ipList);
    expect(answer.status).toBe(400);
    expect(answer.body.data.errors[0].path).toBe(place);
    expect(await listed(id)).toEqual([]);
  });

  it("may have a thousand entries", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const many = Array.from({ length: 1_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    expect((await put(id, many)).status).toBe(200);
    expect(await listed(id)).toEqual(many);
  });

  it("is recorded in the activity log", async () => {
    const { addEnvironment, addSite, call, company } = test.current;
    const siteId = await addSite({ display_name: "Blocked" });
    const { id } = await addEnvironment(siteId);
    await put(id, ["203.0.113.7"]);
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${siteId}&limit=1`);
    expect(log.body.company.activity_logs.items[0]).toMatchObject({
      type: "replaceDeniedIps",
      is_done: true,
      has_failed: false,
      descriptions: [expect.stringMatching(/^Change the blocked IP addresses of “Staging .*” of “Blocked”$/)],
    });
  });

  it("is empty for clones", async () => {
    const { addEnvironment, addSite, call, database, succeed } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await put(id, ["203.0.113.7"]);
    const body = { display_name: "Copy", is_premium: false, source_env_id: id };
    const { operation_id } = (await call("POST", `/v2/sites/${siteId}/environments/clone`, { body })).body;
    await succeed(operation_id);
    const row = database.selectFrom("environments").select(["id"]).where("display_name", "=", "Copy");
    expect(await listed((await row.executeTakeFirstOrThrow()).id)).toEqual([]);
  });

  it("is kept when a deleted environment is restored", async () => {
    const { addEnvironment, addSite, call, deleteEnvironment, succeed } = test.current;
    const siteId = await addSite();
    const { id } = await addEnvironment(siteId);
    await put(id, ["203.0.113.7", "2001:db8::/32"]);
    await deleteEnvironment(id);
    expect((await call("GET", `${path}?environment_id=${id}`)).status).toBe(404);
    const restored = await call("POST", `/v2/sites/${siteId}/deleted-environments/${id}/restore`, { body: {} });
    await succeed(restored.body.operation_id);
    expect(await listed(id)).toEqual(["203.0.113.7", "2001:db8::/32"]);
  });

  it("can't be changed for the live environment by non-live keys", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const { token: key } = await test.current.addKey({ scopes: ["write", "non-live"] });
    const statuses = [];
    for (const environment_id of [liveId, id]) {
      const body = { environment_id, ip_list: [] };
      statuses.push((await test.current.call("PUT", path, { body, key })).status);
    }
    expect(statuses).toEqual([403, 200]);
  });
});

describe("at the edge", () => {
  let folder: string;
  let edge: TestEdge;
  let publisher: Publisher;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "swdenied-"));
    edge = await startTestEdge(folder);
    const runtime = createFakeRuntime({ folder: join(folder, "fake") });
    const { database } = test.current;
    const client = makeEdgeClient(join(edge.runFolder, "edge.sock"));
    // Environments of other tests have no files on disk.
    const layoutOnly = { layout: runtime.layout };
    publisher = makePublisher({
      database,
      runtime: layoutOnly,
      edge: client,
      dataFolder: folder,
      sealer: makeSealer(Buffer.alloc(32)),
      log: silentLog,
    });
    provision = async (environmentId) => {
      const row = database
        .selectFrom("environments as e")
        .innerJoin("domains as d", "d.environment_id", "e.id")
        .select(["e.id", "e.number", "e.php_version", "d.name"])
        .where("e.id", "=", environmentId);
      const { id, number, php_version, name } = await row.executeTakeFirstOrThrow();
      await runtime.provision({ environment: { id, number }, phpVersion: php_version, wordpress: null });
      return `http://${name}`;
    };
    publish = () => publisher.publish();
  });

  afterAll(async () => {
    publish = async () => undefined;
    await edge?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  let provision: (environmentId: string) => Promise<string>;
  /** The addresses in the edge's table; `edge/tables/blockedIps.test.ts` tests that it blocks them. */
  async function atEdge(environmentId: string): Promise<readonly string[]> {
    const table: EdgeTable = JSON.parse(await readFile(tableFile(folder), "utf8"));
    return table.environments.find(({ id }) => id === environmentId)?.deniedIps ?? [];
  }
  const statusAt = async (address: string) => (await visit(edge.edge.port, address)).status;

  it.each([
    ["without an Idempotency-Key", {}],
    ["with an Idempotency-Key", { "idempotency-key": "once" }],
  ])("a change is in force when the call returns, %s", async (_, headers) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const address = await provision(id);
    await publisher.publish();
    expect((await put(id, ["203.0.113.0/24"], headers)).status).toBe(200);
    expect(await atEdge(id)).toEqual(["203.0.113.0/24"]);
    expect(await statusAt(address)).toBe(200);
    expect((await put(id, [])).status).toBe(200);
    expect(await atEdge(id)).toEqual([]);
  });

  it("the machine itself can't be blocked, because requests through a local proxy come from it", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await put(id, ["203.0.113.7", "127.0.0.1", "::1"]);
    expect([answer.status, answer.body.data.code]).toEqual([400, "not_an_address"]);
    expect(answer.body.data.errors.map(({ path }: { path: string }) => path)).toEqual(["/ip_list/1", "/ip_list/2"]);
    expect(await listed(id)).toEqual([]);
  });

  it("a refused change is not published", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const address = await provision(id);
    await publisher.publish();
    expect((await put(id, ["203.0.113.7", "nonsense"], { "idempotency-key": "refused" })).status).toBe(400);
    await publisher.publish();
    expect(await statusAt(address)).toBe(200);
    expect(await atEdge(id)).toEqual([]);
  });

  it("a change is published by the next process if its process was killed before publishing", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await provision(id);
    await publisher.publish();
    publish = async () => {
      throw new Error("killed");
    };
    expect((await put(id, ["203.0.113.7"])).status).toBe(500);
    publish = () => publisher.publish();
    expect(await atEdge(id)).toEqual([]);
    const client = makeEdgeClient(join(edge.runFolder, "edge.sock"));
    const runtime = createFakeRuntime({ folder: join(folder, "fake") });
    const { database } = test.current;
    await makePublisher({
      database,
      runtime,
      edge: client,
      dataFolder: folder,
      sealer: makeSealer(Buffer.alloc(32)),
      log: silentLog,
    }).reconcile();
    expect(await atEdge(id)).toEqual(["203.0.113.7"]);
  });
});
