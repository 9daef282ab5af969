/** Thousands of random malformed requests: none causes an internal error, and none changes anything. */
import type { Endpoint } from "@sitewright/contract/endpoint.ts";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { createRandom } from "@sitewright/dns/testing/random.ts";
import { describe, expect, it } from "vitest";
import { siteFields, useTestServer } from "./testing/server.ts";

const test = useTestServer();
const rows = Object.values<Endpoint>(endpoints);
const rowsForKeys = rows.filter(({ resource }) => resource.kind !== "session");

const strangeValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  "",
  " ",
  "\0",
  "\ud800",
  "'; DROP TABLE sites; --",
  `"><script>alert(1)</script>`,
  "%s%n%00",
  "x".repeat(10_000),
  "\u202e🦄",
  [],
  [[[]]],
  {},
  { $ne: null },
  { toString: 1, __proto__: 1 },
];
const strangeTexts = [
  "",
  "%",
  "%00",
  "%ff",
  "..%2f",
  "a%20b",
  "🦄",
  "[]",
  "{}",
  "-1",
  "1e9",
  "null",
  "x".repeat(500),
  "%F0%9F%A6%84",
];

const requests = 2_000;

describe("malformed requests", () => {
  it("are refused and change nothing", async () => {
    const { call, company, database, server } = test.current;
    const random = createRandom(20_261_120);
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
    const statuses = new Map<number, number>();
    for (let number = 0; number < requests; number += 1) {
      const row = pick(rows);
      const path = String(row?.path).replace(/\{(\w+)\}/g, () =>
        random() < 0.5 ? company.company_id : encodeURI(String(pick(strangeTexts))),
      );
      const query =
        random() < 0.5
          ? ""
          : `?${pick(["limit", "wait", "company", "language", "a[b]", "__proto__"])}=${encodeURI(String(pick(strangeTexts)))}`;
      // Breaks one field of a valid body, and one that every creation needs, so that no request is valid by chance.
      const field = String(pick(Object.keys(siteFields(company.company_id)).filter((name) => name !== "install_mode")));
      const value = pick(
        strangeValues.filter((one) => typeof one !== "string" || one.trim() === "" || one.includes("\0")),
      );
      const required = row?.path === "/sites/plain" ? { region: value } : {};
      const broken = { ...siteFields(company.company_id), [field]: value, ...required, name: 1 };
      const body = random() < 0.7 ? broken : pick(strangeValues);
      const answer = await server.inject({
        method: pick(["GET", "POST", "PUT", "DELETE", "PATCH"] as const) ?? "GET",
        url: `/v2${path}${query}`,
        headers: {
          authorization: `Bearer ${company.api_key}`,
          "content-type": pick(["application/json", "application/json;charset=x", "text/plain", "*/*"]) ?? "",
          ...(random() < 0.1 && { "idempotency-key": String(pick(["", "a", "b", "x".repeat(300)])) }),
          ...(random() < 0.1 && { "when-busy": "now" }),
          ...(random() < 0.1 && { "user-agent": "(".repeat(3_000) }),
        },
        payload: random() < 0.1 ? "{" : JSON.stringify(body),
      });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      expect(answer.statusCode, `${answer.body} after ${path}${query} ${JSON.stringify(body)}`).toBeLessThan(500);
      if (answer.statusCode >= 400) expect(JSON.parse(answer.body)).toMatchObject({ status: answer.statusCode });
    }
    expect([...statuses.keys()].sort()).toEqual(expect.arrayContaining([400, 404, 405, 415]));
    expect(await database.selectFrom("sites").select("id").execute()).toEqual([]);
    expect(await database.selectFrom("operations").select("id").execute()).toEqual([]);
    expect(await database.selectFrom("activity").select("id").execute()).toEqual([]);
    expect((await call("GET", "/v2/validate")).status).toBe(200);
  });

  const largeValues = {
    deep: `${"[".repeat(25_000)}1${"]".repeat(25_000)}`,
    "deep, with invalid strings": `${"[".repeat(25_000)}${Array(100).fill('"\\u0000"').join(",")}${"]".repeat(25_000)}`,
    wide: `[${"{},".repeat(100_000)}{}]`,
    "below a long name": `{"${"k".repeat(100_000)}":[${Array(100).fill('"\\u0000"').join(",")}]}`,
  };

  it.each(Object.entries(largeValues))(
    "get a short answer from every endpoint: a value that is %s",
    async (_, value) => {
      const { company, server } = test.current;
      for (const { method, path, query, body } of rowsForKeys) {
        const [field] = Object.keys((method === "GET" ? query : body)?.properties ?? {});
        if (field === undefined) continue;
        const answer = await server.inject({
          method,
          url: `/v2${path.replace(/\{\w+\}/g, company.company_id)}`,
          headers: { authorization: `Bearer ${company.api_key}`, "content-type": "application/json" },
          payload: `{"company":"${company.company_id}","${field}":${value}}`,
        });
        expect(answer.body.length, path).toBeLessThan(30_000);
        expect([400, 404], `${method} ${path}`).toContain(answer.statusCode);
      }
    },
  );
});
