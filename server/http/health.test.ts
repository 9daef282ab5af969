import { expect, it } from "vitest";
import { startTestServer } from "./testing/server.ts";

const edgeNumbers = async () => ({ workers: [], spares: 0, answers: { buckets: [], times: [] } });

it("GET /health says whether the database and the edge answer, without a key", async () => {
  await using well = await startTestServer({ edgeNumbers });
  const answer = await well.call("GET", "/health", { key: null });
  expect([answer.status, answer.body]).toEqual([200, { status: "ok", database: true, edge: true }]);
  await using alone = await startTestServer();
  const partly = await alone.call("GET", "/health", { key: null });
  expect([partly.status, partly.body]).toEqual([503, { status: "unavailable", database: true, edge: false }]);
});

it("GET /health stays an answer if the database is gone", async () => {
  await using server = await startTestServer({ edgeNumbers });
  await server.database.destroy();
  const answer = await server.call("GET", "/health", { key: null });
  expect([answer.status, answer.body.database]).toEqual([503, false]);
});
