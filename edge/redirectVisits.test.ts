import { describe, expect, test } from "vitest";
import type { RedirectRule, VisitorLocation } from "./redirects/rule.ts";
import { ask, putTable } from "./testing/http.ts";
import { ruleOf } from "./testing/redirectRule.ts";
import { startSite, tableOf } from "./testing/withEdge.ts";

/**
 * A site with the rules of the list `first` in force, another list `second`, and a record of the lists that were read.
 */
async function startRedirected(rules: readonly RedirectRule[], placeOf?: (address: string) => VisitorLocation) {
  const lists = new Map([
    ["first", rules],
    ["second", [ruleOf("/old", "/second")]],
  ]);
  const reads: string[] = [];
  const read = async (list: string) => {
    reads.push(list);
    const found = lists.get(list);
    if (found === undefined) throw new Error("no such list");
    return found;
  };
  const redirects = placeOf === undefined ? { read } : { read, placeOf };
  const world = await startSite(
    { "style.css": "body {}", "old/index.php": "<?php" },
    { environment: { redirectRules: "first" }, edge: { redirects } },
  );
  const name = (generation: number, redirectRules: string | undefined) => {
    const { redirectRules: _, ...plain } = world.environment;
    const environment = redirectRules === undefined ? plain : { ...plain, redirectRules };
    return putTable(world.edge, tableOf(generation, [environment], { "site.localhost": environment.id }));
  };
  const locationOf = async (...asked: [path: string, more?: Parameters<typeof ask>[2]]) =>
    (await ask(world.edge, ...asked)).headers.location;
  return { ...world, reads, name, locationOf };
}

describe("a matching rule", () => {
  test("redirects before files and WordPress are used", async () => {
    const { edge, upstream } = await startRedirected([
      ruleOf("/old", "/new?x=1"),
      ruleOf("/style.css", "https://b.example/s.css", { type: "redirect" }),
    ]);
    const old = await ask(edge, "/old?a=b");
    expect([old.status, old.headers.location, old.body]).toEqual([301, "/new?x=1&a=b", ""]);
    const style = await ask(edge, "/style.css");
    expect([style.status, style.headers.location]).toEqual([302, "https://b.example/s.css"]);
    expect(upstream.asked).toEqual([]);
  });

  test.each([
    ["/old", "/new"],
    ["//old//", "/new"],
    ["/%6Fld", "/new"],
    ["/caf%C3%A9/x", "/cafe/x"],
    ["/go/%0d%0aSet-Cookie:a=b", undefined],
    ["/go/a%3Fb%20c", "/gone/a%3Fb%20c"],
  ])("is found by the decoded path %s: %s", async (path, location) => {
    const rules = [ruleOf("/old", "/new"), ruleOf("^/café/(.*)$", "/cafe/$1"), ruleOf("^/go/(.*)$", "/gone/$1")];
    const { locationOf } = await startRedirected(rules);
    expect(await locationOf(path)).toBe(location);
  });

  test("redirects for every method, without reading the body", async () => {
    const { edge } = await startRedirected([ruleOf("/old", "/new")]);
    for (const method of ["HEAD", "POST", "DELETE"]) {
      const got = await ask(edge, "/old", { method, body: method === "POST" ? "a=b" : "" });
      expect([got.status, got.headers.location]).toEqual([301, "/new"]);
    }
  });

  test("may depend on the visitor's location", async () => {
    const placeOf = (address: string) => ({ country: address === "127.0.0.1" ? "DE" : null, city: "Berlin" });
    const { locationOf } = await startRedirected(
      [ruleOf("/a", "/de", { country: "DE" }), ruleOf("/b", "/fr", { country: "FR" })],
      placeOf,
    );
    expect([await locationOf("/a"), await locationOf("/b")]).toEqual(["/de", undefined]);
  });
});

describe("no rule applies", () => {
  test("if PHP requests its own site", async () => {
    const { edge } = await startRedirected([ruleOf("^(.*)$", "https://b.example$1")]);
    const inside = await ask(edge, "/style.css", { php: edge.loopbackSocket });
    const outside = await ask(edge, "/style.css");
    expect([inside.status, outside.status]).toEqual([200, 301]);
  });

  test("if it leads to the requested URL", async () => {
    const { edge } = await startRedirected([ruleOf("^(.*)$", "http://site.localhost$1")]);
    expect((await ask(edge, "/style.css?a=b")).status).toBe(200);
  });

  test("if the domain differs from the rule's", async () => {
    const { locationOf } = await startRedirected([ruleOf("/style.css", "/new", { domain: "b.example" })]);
    expect(await locationOf("/style.css")).toBeUndefined();
  });

  test("if the list can't be read, until a table names another one", async () => {
    const { edge, name, locationOf, logged } = await startRedirected([]);
    await name(2, "none");
    expect((await ask(edge, "/style.css")).status).toBe(200);
    expect(logged.filter(({ level }) => level === "error")).toHaveLength(1);
    await name(3, "second");
    expect(await locationOf("/old")).toBe("/second");
  });
});

test("a list is read once, when it is first needed, and not again for a new table", async () => {
  const { reads, name, locationOf } = await startRedirected([ruleOf("/old", "/first")]);
  expect(reads).toEqual([]);
  expect(await Promise.all([locationOf("/old"), locationOf("/old")])).toEqual(["/first", "/first"]);
  await name(2, "first");
  expect(await locationOf("/old")).toBe("/first");
  expect(reads).toEqual(["first"]);
});

test("a new list is in force once its table is acknowledged; a table without a list removes the rules", async () => {
  const { name, locationOf, reads } = await startRedirected([ruleOf("/old", "/first")]);
  expect(await locationOf("/old")).toBe("/first");
  await name(2, "second");
  expect(await locationOf("/old")).toBe("/second");
  await name(3, undefined);
  expect(await locationOf("/style.css")).toBeUndefined();
  await name(4, "first");
  expect(await locationOf("/old")).toBe("/first");
  expect(reads).toEqual(["first", "second", "first"]);
});
