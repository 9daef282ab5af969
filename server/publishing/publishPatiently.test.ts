import { expect, test } from "vitest";
import { EdgeUnavailable } from "../clients/edgeClient.ts";
import { publishPatiently } from "./publishPatiently.ts";

/** Fails so often with this error, and succeeds then. */
function failing(times: number, error: Error) {
  let calls = 0;
  const publish = async () => {
    calls += 1;
    if (calls <= times) throw error;
  };
  return { publish, calls: () => calls };
}

test("an edge that is being restarted is waited for", async () => {
  const publisher = failing(2, new EdgeUnavailable("starting"));
  await publishPatiently(publisher);
  expect(publisher.calls()).toBe(3);
});

test("one that stays away is not, for ever", async () => {
  const publisher = failing(Number.POSITIVE_INFINITY, new EdgeUnavailable("gone"));
  await expect(publishPatiently(publisher, 300)).rejects.toBeInstanceOf(EdgeUnavailable);
  expect(publisher.calls()).toBeGreaterThan(1);
});

test("any other failure is told at once", async () => {
  const publisher = failing(1, new Error("the database is gone"));
  await expect(publishPatiently(publisher)).rejects.toThrow("the database is gone");
  expect(publisher.calls()).toBe(1);
});
