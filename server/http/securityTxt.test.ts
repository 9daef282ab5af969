import { expect, it } from "vitest";
import { startTestServer } from "./testing/server.ts";

const path = "/.well-known/security.txt";

it("GET /.well-known/security.txt is public if there is a contact", async () => {
  const text = "Contact: https://example.com/report\nExpires: 2026-12-27T00:00:00.000Z\n";
  await using server = await startTestServer({ securityTxt: () => text });
  const answer = await server.call("GET", path, { key: null });
  expect([answer.status, answer.headers["content-type"], answer.text]).toEqual([
    200,
    "text/plain; charset=utf-8",
    text,
  ]);
});

it("answers 404 without a contact", async () => {
  await using server = await startTestServer();
  expect((await server.call("GET", path, { key: null })).status).toBe(404);
});
