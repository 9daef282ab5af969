import { expect, it } from "vitest";
import { startTestServer } from "./testing/server.ts";

const edgeNumbers = async () => ({
  workers: [],
  preparedWorkers: 0,
  bodies: { memoryBytes: 0, diskBytes: 0, refused: 0 },
  answers: { buckets: [], times: [] },
});

it("GET /health says whether the database and the edge work, without a key", async () => {
  await using healthy = await startTestServer({ edgeNumbers });
  const answer = await healthy.call("GET", "/health", { key: null });
  expect([answer.status, answer.body]).toEqual([200, { status: "ok", database: true, edge: true }]);
  await using withoutEdge = await startTestServer();
  const partial = await withoutEdge.call("GET", "/health", { key: null });
  expect([partial.status, partial.body]).toEqual([503, { status: "unavailable", database: true, edge: false }]);
});

it("GET /health answers 503 if the database is gone", async () => {
  await using server = await startTestServer({ edgeNumbers });
  await server.database.destroy();
  const answer = await server.call("GET", "/health", { key: null });
  expect([answer.status, answer.body.database]).toEqual([503, false]);
});

it("POST /health answers 405, as the path has only GET", async () => {
  await using server = await startTestServer({ edgeNumbers });
  const answer = await server.call("POST", "/health", { body: {} });
  expect([answer.status, answer.headers.allow]).toEqual([405, "GET, HEAD"]);
});
