import { expect, test } from "vitest";
import { createReadTrust } from "./readTrust.ts";

test("a network is trusted from its first request until its first chunked body", () => {
  const trust = createReadTrust<string>(() => 0);
  expect(trust.take("a", "a1")).toBe(false);
  trust.noteRequest("a");
  expect([trust.take("a", "a2"), trust.take("a", "a3"), trust.take("a", "a4")]).toEqual([true, true, true]);
  expect(trust.take("b", "b1")).toBe(false);
  trust.release("a", "a3");
  expect(trust.noteChunks("a")).toEqual(["a2", "a4"]);
  expect(trust.noteChunks("a")).toEqual([]);
  expect(trust.take("a", "a5")).toBe(false);
});

test("it is trusted again after ten minutes", () => {
  let now = 0;
  const trust = createReadTrust<string>(() => now);
  trust.noteChunks("a");
  now = 599_999;
  trust.noteRequest("a");
  expect(trust.take("a", "a1")).toBe(false);
  now = 600_000;
  trust.noteRequest("a");
  expect(trust.take("a", "a2")).toBe(true);
});
