import { expect, test } from "vitest";
import { isSameAddress, networkOf } from "./clients.ts";
import { createRateLimit } from "./rateLimit.ts";

test("counts are dropped after a second", () => {
  let now = 0;
  const limit = createRateLimit(2, () => now);
  const check = () => limit.check("192.0.2", "an answer");
  expect([check(), check(), check(), check()]).toEqual(["answer", "answer", "drop", "truncate"]);
  now = 1_000;
  expect([check(), limit.limited]).toEqual(["answer", 2]);
});

test("0 means no limit", () => {
  const limit = createRateLimit(0, () => 0);
  expect(new Set(Array.from({ length: 1_000 }, () => limit.check("192.0.2", "an answer")))).toEqual(
    new Set(["answer"]),
  );
});

test.each([
  ["192.0.2.1", "192.0.2.250", true],
  ["192.0.2.1", "192.0.3.1", false],
  ["::ffff:192.0.2.1", "192.0.2.9", true],
  ["2001:db8:0:1::1", "2001:db8:0:ff:ffff::2", true],
  ["2001:db8:0:100::1", "2001:db8:0:1::1", false],
  ["fe80::1%eth0", "fe80::2", true],
])("%s and %s are in the same network: %s", (one, other, isOne) => {
  expect(networkOf(one) === networkOf(other)).toBe(isOne);
});

test("addresses are compared by value", () => {
  expect(isSameAddress("::ffff:192.0.2.1", "192.0.2.1")).toBe(true);
  expect(isSameAddress("2001:DB8::1", "2001:db8:0:0::1")).toBe(true);
  expect(isSameAddress("192.0.2.1", "2001:db8::1")).toBe(false);
});
