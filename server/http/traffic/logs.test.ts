import { describe, expect, it } from "vitest";
import type { LogQuery } from "../../logs/logs.ts";
import { useTestServer } from "../testing/server.ts";

let queries: LogQuery[] = [];
const test = useTestServer({
  readLog: async (query) => {
    queries.push(query);
    return { text: "one\ntwo", isComplete: query.search === null };
  },
});

async function read(query = "") {
  const { addSiteWithEnvironment, call } = test.current;
  const { id } = await addSiteWithEnvironment();
  queries = [];
  const answer = await call("GET", `/v2/sites/environments/${id}/logs${query}`);
  return { id, answer, logQuery: queries[0] };
}

describe("GET /sites/environments/{env_id}/logs", () => {
  it("returns the newest thousand lines of the error log by default", async () => {
    const { id, answer, logQuery } = await read();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ environment: { container_info: { logs: "one\ntwo", is_complete: true } } });
    const expected = { environmentId: id, log: "error", lines: 1_000, from: null, to: null, search: null };
    expect(logQuery).toEqual(expected);
  });

  it("accepts all parameters in the query", async () => {
    const { answer, logQuery } = await read(
      "?file_name=access&lines=20000&from=2026-11-22T20:15:31.5%2B01:00&to=2026-11-22T20:15:31Z&search=%2Fcheckout",
    );
    expect(logQuery).toMatchObject({ log: "access", lines: 20_000, search: "/checkout" });
    expect([logQuery?.from, logQuery?.to]).toEqual([
      new Date("2026-11-22T19:15:31.500Z"),
      new Date("2026-11-22T20:15:31Z"),
    ]);
    expect(answer.body.environment.container_info.is_complete).toBe(false);
  });

  it("accepts parameters in a body, and an id in any case", async () => {
    const { addSiteWithEnvironment, call } = test.current;
    const { id } = await addSiteWithEnvironment();
    queries = [];
    const body = { file_name: "cache-perf", lines: 1 };
    const path = `/v2/sites/environments/${id.toUpperCase()}/logs`;
    expect((await call("GET", path, { body })).status).toBe(200);
    expect(queries[0]).toMatchObject({ environmentId: id, log: "cache-perf", lines: 1 });
  });

  it.each([
    ["file_name=debug", "/file_name", "must be one of: error, access, cache-perf"],
    ["file_name=../error", "/file_name", "must be one of: error, access, cache-perf"],
    ["lines=0", "/lines", "must be at least 1"],
    ["lines=-1", "/lines", "must be at least 1"],
    ["lines=20001", "/lines", "must be at most 20000"],
    ["lines=many", "/lines", "must be an integer"],
    ["lines=1.5", "/lines", "must be an integer"],
    ["from=yesterday", "/from", "must be a date and time like 2027-01-01T00:00:00Z"],
    ["from=2026-11-22", "/from", "must be a date and time like 2027-01-01T00:00:00Z"],
    ["from=2026-11-22T20:15:31", "/from", "must be a date and time like 2027-01-01T00:00:00Z"],
    ["to=2026-02-30T00:00:00Z", "/to", "must be a date and time like 2027-01-01T00:00:00Z"],
    ["to=1700000000", "/to", "must be a date and time like 2027-01-01T00:00:00Z"],
    ["search=", "/search", "must not be empty"],
    [`search=${"x".repeat(501)}`, "/search", "must be at most 500 characters long"],
  ])("refuses %s", async (query, path, message) => {
    const { answer, logQuery } = await read(`?${query}`);
    expect(answer.body).toMatchObject({ status: 400, data: { errors: [{ path, message }] } });
    expect(logQuery).toBeUndefined();
  });

  it("refuses a period that ends before it starts", async () => {
    const { answer } = await read("?from=2026-11-22T20:15:32Z&to=2026-11-22T20:15:31Z");
    expect(answer.body).toMatchObject({ status: 400, data: { code: "period_backwards" } });
  });
});
