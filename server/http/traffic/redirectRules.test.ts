import { mkdtemp, readdir, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeRuntime } from "@sitewright/runtimes/fake/runtime.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeEdgeClient } from "../../clients/edgeClient.ts";
import { makePublisher, type Publisher } from "../../publishing/publishRoutes.ts";
import { redirectFolder } from "../../publishing/redirectFiles.ts";
import { makeSealer } from "../../sealing.ts";
import { startTestEdge, type TestEdge } from "../../testing/edge.ts";
import { silentLog } from "../../testing/engine.ts";
import { useTestServer } from "../testing/server.ts";

let publish: () => Promise<void> = async () => undefined;
const test = useTestServer({ publishRoutes: () => publish() });

const pathOf = (id: string, more = "") => `/v2/sites/environments/${id}/redirect-rules${more}`;
const rule = (from: string, to: string, more = {}) => ({ from, to, type: "permanent", domain: null, ...more });
const withoutPlace = { traffic_from_country: null, traffic_from_country_name: null, traffic_from_city: null };
const stored = (from: string, to: string, more = {}) => ({
  ...rule(from, to),
  ...withoutPlace,
  displayed_location: null,
  ...more,
});

const post = (id: string, body: object, headers = {}) => test.current.call("POST", pathOf(id), { body, headers });
const add = (id: string, ...rules_to_update: object[]) => post(id, { action_type: "NEW", rules_to_update });

async function listed(id: string, query = "?limit=1000") {
  const { body } = await test.current.call("GET", pathOf(id, query));
  return body.environment.container_info.redirect_rules;
}
const fromsOf = async (id: string, query?: string): Promise<string[]> =>
  (await listed(id, query)).rules.map(({ from }: { from: string }) => from);

describe("the rules of an environment", () => {
  it("are empty by default", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { body } = await test.current.call("GET", pathOf(id));
    const redirect_rules = { rules: [], redirect_rules_count: 0 };
    expect(body).toEqual({ environment: { id, container_info: { redirect_rules } } });
  });

  it("are added one or many at a time; the response is the requested page", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const one = await post(id, { action_type: "NEW", new_value: rule("/a", "/b") });
    const redirect_rules = { rules: [stored("/a", "/b")], redirect_rules_count: 1 };
    expect([one.status, one.body]).toEqual([200, { environment: { id, container_info: { redirect_rules } } }]);
    const rules_to_update = [rule("/d", "/e"), rule("/c", "/e")];
    const paging = { limit: 1, offset: 1, key: "from", order: "descend" };
    const many = await post(id, { action_type: "NEW", rules_to_update, ...paging });
    const page = many.body.environment.container_info.redirect_rules;
    expect(page).toEqual({ rules: [stored("/c", "/e")], redirect_rules_count: 3 });
  });

  it("are replaced and removed by equality", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, rule("/a", "/1"), rule("/b", "/1"), rule("/c", "/1"));
    const update = { action_type: "UPDATE", rules_to_update: [rule("/b", "/1")], new_value: rule("/b", "/2") };
    expect((await post(id, update)).status).toBe(200);
    expect((await listed(id)).rules[1]).toEqual(stored("/b", "/2"));
    expect((await post(id, update)).body.data).toEqual({ code: "redirect_rule_missing" });
    await post(id, { action_type: "DELETE", rules_to_update: [rule("/a", "/1"), rule("/c", "/other")] });
    expect(await fromsOf(id)).toEqual(["/b", "/c"]);
    await post(id, { action_type: "DELETE_ALL" });
    expect(await fromsOf(id)).toEqual([]);
  });

  it("can be sorted and searched", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, rule("/b", "/Blue"), rule("/a", "/red", { type: "redirect" }), rule("^/c[0-9]$", "/red"));
    expect(await fromsOf(id, "?key=from&order=descend")).toEqual(["^/c[0-9]$", "/b", "/a"]);
    expect(await fromsOf(id, "?key=type&order=descend")).toEqual(["/a", "/b", "^/c[0-9]$"]);
    expect(await fromsOf(id, "?search_query=blue")).toEqual(["/b"]);
    expect(await fromsOf(id, "?search_query=%5E%2F(r%7Ca)&regex_search=true&key=from")).toEqual(["/a", "^/c[0-9]$"]);
    const bad = await test.current.call("GET", pathOf(id, "?search_query=(&regex_search=true"));
    expect([bad.status, bad.body.data.code]).toEqual([400, "no_expression"]);
    expect((await post(id, { action_type: "DELETE_ALL", regex_search: false })).status).toBe(200);
  });

  it("have a location, with default display names", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, rule("/a", "/b", { traffic_from_country: "de", traffic_from_city: "Berlin" }));
    expect((await listed(id)).rules).toEqual([
      stored("/a", "/b", {
        traffic_from_country: "DE",
        traffic_from_country_name: "Germany",
        traffic_from_city: "Berlin",
        displayed_location: "Berlin, Germany",
      }),
    ]);
  });

  it("are kept when a deleted environment is restored, and recorded in the activity log", async () => {
    const { addEnvironment, addSite, call, company, deleteEnvironment, succeed } = test.current;
    const siteId = await addSite({ display_name: "Moved" });
    const { id } = await addEnvironment(siteId);
    await add(id, rule("/a", "/b"));
    const log = await call("GET", `/v2/company/${company.company_id}/activity-logs?site_id=${siteId}&limit=1`);
    expect(log.body.company.activity_logs.items[0]).toMatchObject({ type: "updateRedirectRules", is_done: true });
    await deleteEnvironment(id);
    const restored = await call("POST", `/v2/sites/${siteId}/deleted-environments/${id}/restore`, { body: {} });
    await succeed(restored.body.operation_id);
    expect(await fromsOf(id)).toEqual(["/a"]);
  });

  it("are all kept when they are added simultaneously", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const all = Array.from({ length: 8 }, (_, index) => `/${index}`);
    await Promise.all(all.map((from) => add(id, rule(from, "/to"))));
    expect((await fromsOf(id)).toSorted()).toEqual(all);
  });
});

describe("a change of redirect rules", () => {
  const long = "a".repeat(1_000_000);
  it.each<[string, object, string]>([
    ["no action", { rules_to_update: [] }, "/action_type"],
    ["an unknown action", { action_type: "ADD" }, "/action_type"],
    ["a pattern of a megabyte", { action_type: "NEW", new_value: rule(`/${long}`, "/b") }, "/new_value/from"],
    ["a rule without to", { action_type: "NEW", new_value: { ...rule("/a", "/b"), to: undefined } }, "/new_value/to"],
    [
      "a rule without domain",
      { action_type: "NEW", new_value: { from: "/a", to: "/b", type: "permanent" } },
      "/new_value/domain",
    ],
    ["an unknown type", { action_type: "NEW", new_value: rule("/a", "/b", { type: 301 }) }, "/new_value/type"],
  ])("is refused as malformed with %s", async (_, body, path) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await post(id, body);
    expect([answer.status, answer.body.message]).toEqual([400, "Bad request format"]);
    expect(answer.body.data.errors[0].path).toBe(path);
  });

  it.each<[string, object, string]>([
    ["an invalid expression", rule("^/(a$", "/b"), "from"],
    ["an expression that is too large", rule("((a{30}){30}){30}", "/b"), "from"],
    ["a back-reference, which RE2 lacks", rule("^/(a)\\1$", "/b"), "from"],
    ["javascript:", rule("/a", "javascript:alert(1)"), "to"],
    ["a line break", rule("/a", "/b\r\nSet-Cookie: a=b"), "to"],
    ["an address without a scheme", rule("/a", "//evil.example"), "to"],
    ["a missing group", rule("^/(a)$", "/$2"), "to"],
    ["another site's domain", rule("/a", "/b", { domain: "else.example" }), "domain"],
    ["an unknown country", rule("/a", "/b", { traffic_from_country: "X1" }), "traffic_from_country"],
  ])("is refused completely with %s", async (_, bad, field) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await add(id, rule("/good", "/b"), bad);
    expect([answer.status, answer.body.data.code]).toEqual([400, "redirect_rule_refused"]);
    expect(answer.body.data.errors).toEqual([
      { path: `/rules_to_update/1/${field}`, message: expect.stringMatching(/^must /) },
    ]);
    expect(await fromsOf(id)).toEqual([]);
  });

  it.each<[string, object[]]>([
    ["the same path", [rule("/a", "/b"), rule("/a", "/c")]],
    ["the same path in another spelling", [rule("/a%20b", "/b"), rule("/a b/", "/c")]],
    ["the same expression", [rule("^/a", "/b"), rule("^/a", "/c")]],
  ])("is refused with the existing rule if it has %s", async (_, [first = {}, second = {}]) => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, first);
    const { body } = await add(id, second);
    expect(body.data).toMatchObject({ code: "redirect_rule_duplicate", rule: second, clashes_with: first });
  });

  it("is refused if it would create a loop, with the rule that closes it", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, rule("/a", "/b"), rule("/b", "/c"));
    const { status, body } = await add(id, rule("/c", "/a"));
    expect(status).toBe(400);
    expect(body.data).toMatchObject({ code: "redirect_rule_loop", rule: rule("/c", "/a") });
    expect(body.data.clashes_with.from).toMatch(/^\/[abc]$/);
    const itself = await add(id, rule("/d", "/d/"));
    expect(itself.body.data).toMatchObject({ code: "redirect_rule_loop", clashes_with: rule("/d", "/d/") });
  });

  it("is refused beyond the maximum number of rules", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    const many = (count: number, to: string) =>
      add(id, ...Array.from({ length: count }, (_, index) => rule(`${to}${index}`, "/")));
    expect((await many(9_999, "/a")).status).toBe(200);
    expect((await many(2, "/b")).body.data).toEqual({ code: "too_many_redirect_rules", most: 10_000 });
    await post(id, { action_type: "DELETE_ALL" });
    expect((await many(101, "x+")).body.data).toEqual({ code: "too_many_redirect_rules", most: 100 });
    expect((await many(1_001, "^/a+")).body.data).toEqual({ code: "too_many_redirect_rules", most: 1_000 });
  });

  it("is forbidden for non-live keys in the live environment", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const { token: key } = await test.current.addKey({ scopes: ["read", "write", "non-live"] });
    const body = { action_type: "DELETE_ALL" };
    const statuses = [];
    for (const each of [liveId, id])
      statuses.push((await test.current.call("POST", pathOf(each), { body, key })).status);
    expect(statuses).toEqual([403, 200]);
  });
});

describe("testing a URL", () => {
  const testUrl = async (id: string, body: object) => test.current.call("POST", pathOf(id, "/test"), { body });

  it("returns the matching rule and its redirect", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(
      id,
      rule("^/blog/(.*)$", "/news/$1", { type: "redirect" }),
      rule("/a", "/de", { traffic_from_country: "DE" }),
    );
    expect((await testUrl(id, { url: "/blog/x%20y?b=c" })).body).toEqual({
      rule: stored("^/blog/(.*)$", "/news/$1", { type: "redirect" }),
      status: 302,
      location: "/news/x%20y?b=c",
    });
    expect((await testUrl(id, { url: "/a" })).body).toEqual({ rule: null, status: null, location: null });
    expect((await testUrl(id, { url: "/a", country: "de" })).body.location).toBe("/de");
  });

  it.each(["https://else.example/a", "javascript:alert(1)", "http://[", "/%zz"])("is refused for %j", async (url) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const { status, body } = await testUrl(id, { url });
    expect([status, body.data.code]).toEqual([400, "redirect_rule_refused"]);
  });
});

describe("CSV", () => {
  const csv = (id: string, body: object) => test.current.call("POST", pathOf(id, "/csv"), { body });

  it("hides formulas from spreadsheets, and reads them back", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    const formulas = ['=HYPERLINK("/evil.example")', "-1", "@a"].map((from) => rule(from, "/"));
    expect((await add(id, ...formulas)).status).toBe(200);
    const text = (await test.current.call("GET", pathOf(id, "/csv"))).body.csv;
    expect(text.split("\n").slice(1, -1)).toEqual(formulas.map(() => expect.stringMatching(/^"?'/)));
    await csv(liveId, { csv: text });
    expect((await test.current.call("GET", pathOf(liveId, "/csv"))).body.csv).toBe(text);
  });

  it("can be exported and imported without loss", async () => {
    const { id, liveId } = await test.current.addSiteWithEnvironment();
    await add(id, rule('^/a,"(b)$', "/b"), rule("/c", "/d", { type: "redirect", traffic_from_country: "FR" }));
    const text = (await test.current.call("GET", pathOf(id, "/csv"))).body.csv;
    expect((await csv(liveId, { csv: text })).body).toEqual({ imported: 2, redirect_rules_count: 2 });
    expect(await listed(liveId)).toEqual(await listed(id));
  });

  it("adds to the rules or replaces them", async () => {
    const { id } = await test.current.addSiteWithEnvironment();
    await add(id, rule("/a", "/z"));
    expect((await csv(id, { csv: "\ufefffrom,to\r\n/b,/z\r\n" })).body.redirect_rules_count).toBe(2);
    expect((await csv(id, { csv: "to,from\n/z,/c\n", replace: true })).body.redirect_rules_count).toBe(1);
    expect(await fromsOf(id)).toEqual(["/c"]);
  });

  it.each<[string, string, object]>([
    ["a missing `to`", "from,to\n/a,/b\n/c,\n", { code: "csv_unreadable", line: 3 }],
    ["an unknown type", "from,to,type\n/a,/b,301\n", { code: "csv_unreadable", line: 2 }],
    ["an unknown type after a blank line", "from,to,type\n/a,/b,\n\n/c,/d,301\n", { code: "csv_unreadable", line: 4 }],
    ["an unclosed quote", 'from,to\n"/a,/b\n', { code: "csv_unreadable" }],
    ["too many fields", "from,to\n/a,/b,/c\n", { code: "csv_unreadable" }],
    ["an invalid rule", "from,to\n/a,b\n", { code: "redirect_rule_refused", errors: [{ path: "/csv/1/to" }] }],
  ])("with %s is refused completely", async (_, text, data) => {
    const { id } = await test.current.addSiteWithEnvironment();
    const answer = await csv(id, { csv: text });
    expect(answer.status).toBe(400);
    expect(answer.body.data).toMatchObject(data);
    expect(await fromsOf(id)).toEqual([]);
  });
});

describe("at the edge", () => {
  let folder: string;
  let edge: TestEdge;
  let publisher: Publisher;
  let runtime: ReturnType<typeof createFakeRuntime>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "swrules-"));
    edge = await startTestEdge(folder);
    runtime = createFakeRuntime({ folder: join(folder, "fake") });
    publisher = makePublisher({
      database: test.current.database,
      runtime: { layout: runtime.layout },
      edge: makeEdgeClient(join(edge.runFolder, "edge.sock")),
      dataFolder: folder,
      sealer: makeSealer(Buffer.alloc(32)),
      log: silentLog,
    });
    publish = () => publisher.publish();
  });

  afterAll(async () => {
    publish = async () => undefined;
    await edge?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  async function provisioned() {
    const { id } = await test.current.addSiteWithEnvironment();
    const row = test.current.database
      .selectFrom("environments as e")
      .innerJoin("domains as d", "d.environment_id", "e.id")
      .select(["e.number", "e.php_version", "d.name"])
      .where("e.id", "=", id);
    const { number, php_version, name } = await row.executeTakeFirstOrThrow();
    await runtime.provision({ environment: { id, number }, phpVersion: php_version, wordpress: null });
    await publisher.publish();
    return { id, host: name };
  }

  function locationAt(host: string, path: string): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const to = { host: "127.0.0.1", port: edge.edge.port, path, headers: { host }, agent: false };
      request(to, (response) => {
        response.resume();
        resolve(response.headers.location);
      })
        .on("error", reject)
        .end();
    });
  }

  it("a change is in force when the call returns, for its environment only", async () => {
    const [one, two] = [await provisioned(), await provisioned()];
    await add(one.id, rule("/a", "/b"), rule("/c", "/d", { domain: one.host.toUpperCase() }));
    expect(await locationAt(one.host, "/a?x=y")).toBe("/b?x=y");
    expect(await locationAt(one.host, "/c")).toBe("/d");
    expect(await locationAt(two.host, "/a")).toBeUndefined();
    await post(one.id, { action_type: "UPDATE", rules_to_update: [rule("/a", "/b")], new_value: rule("/a", "/e") });
    expect(await locationAt(one.host, "/a")).toBe("/e");
    await post(one.id, { action_type: "DELETE_ALL" });
    expect(await locationAt(one.host, "/a")).toBeUndefined();
  });

  it("unused lists are deleted, and lost lists are written again", async () => {
    const { id, host } = await provisioned();
    const before = await readdir(redirectFolder(folder));
    await add(id, rule("/a", "/b"));
    await add(id, rule("/c", "/d"));
    const lists = await readdir(redirectFolder(folder));
    expect(lists).toHaveLength(before.length + 1);
    await rm(redirectFolder(folder), { recursive: true });
    await publisher.publish();
    expect(await readdir(redirectFolder(folder))).toEqual(lists);
    expect(await locationAt(host, "/c")).toBe("/d");
  });
});
