import { expect, test } from "vitest";
import { addEnvironments, addressOf, createTable, numberAt, setDestinations } from "./rules.ts";

test("each environment has a loopback address of its own, and an address tells whose it is", () => {
  const numbers = [1, 2, 255, 256, 65_535, 65_536, 99_982];
  expect(numbers.map(addressOf)).toEqual(
    expect.arrayContaining(["127.64.0.1", "127.64.0.255", "127.64.1.0", "127.65.0.0"]),
  );
  expect(numbers.map(addressOf).map(numberAt)).toEqual(numbers);
});

test.each(["127.0.0.1", "127.64.0.0", "127.128.0.0", "::1", "::ffff:127.64.0.1", "10.0.0.1", ""])(
  "%j is no environment's address",
  (address) => {
    expect(numberAt(address)).toBeNull();
  },
);

test("networks and services are sorted by their kind of address", () => {
  const text = createTable(
    "t",
    { mayReach: ["10.1.0.0/16", "fd00:1::/64"], isSecond: false },
    {
      resolvers: ["127.0.0.53", "::1"],
      forbidden: [
        { address: "10.0.0.1", port: 5432 },
        { address: "fd00::1", port: 5432 },
      ],
      internal: [],
      packageSource: [{ address: "127.0.0.1", port: 8090 }],
    },
  );
  expect(text).toMatch(/set opened4 .* elements = \{ 10\.1\.0\.0\/16 \}/);
  expect(text).toMatch(/set opened6 .* elements = \{ fd00:1::\/64 \}/);
  expect(text).toContain("add element inet t resolvers6 { ::1 }");
  expect(text).toContain("add element inet t forbidden4 { 10.0.0.1 . 5432 }");
  expect(text).toContain("add element inet t forbidden6 { fd00::1 . 5432 }");
  expect(text).toContain("add element inet t source4 { 127.0.0.1 . 8090 }");
});

test("sets that have become empty are emptied, and nothing is added to them", () => {
  const none = { resolvers: [], forbidden: [], internal: [], packageSource: [] };
  expect(setDestinations("t", none)).toMatch(/^(flush set inet t \w+\n?){8}$/);
  expect(addEnvironments("t", [])).toBe("");
});
