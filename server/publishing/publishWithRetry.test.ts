import { expect, test } from "vitest";
import { EdgeUnavailable } from "../clients/edgeClient.ts";
import { publishWithRetry } from "./publishWithRetry.ts";

/** Fails with this error the given number of times, then succeeds. */
function failing(times: number, error: Error) {
  let calls = 0;
  const publish = async () => {
    calls += 1;
    if (calls <= times) throw error;
  };
  return { publish, calls: () => calls };
}

test("retries while the edge is being restarted", async () => {
  const publisher = failing(2, new EdgeUnavailable("starting"));
  await publishWithRetry(publisher);
  expect(publisher.calls()).toBe(3);
});

test("gives up if the edge stays down", async () => {
  const publisher = failing(Number.POSITIVE_INFINITY, new EdgeUnavailable("gone"));
  await expect(publishWithRetry(publisher, 300)).rejects.toBeInstanceOf(EdgeUnavailable);
  expect(publisher.calls()).toBeGreaterThan(1);
});

test("rejects at once with any other error", async () => {
  const publisher = failing(1, new Error("the database is gone"));
  await expect(publishWithRetry(publisher)).rejects.toThrow("the database is gone");
  expect(publisher.calls()).toBe(1);
});
