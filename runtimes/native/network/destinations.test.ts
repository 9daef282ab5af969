import { expect, test } from "vitest";
import { findDestinations } from "./destinations.ts";

const addresses: Readonly<Record<string, readonly string[]>> = {
  "db.example": ["10.0.0.1", "fd00::1"],
  "source.example": ["93.184.216.34"],
};
const find = (services: object) =>
  findDestinations(
    { forbidden: [], internal: [], packageSource: null, ...services },
    async (name) => addresses[name] ?? [],
  );

test("services are found by name or address, and names that can't be resolved are left out", async () => {
  const { forbidden, internal } = await find({
    forbidden: ["db.example:5432", "[fd00::2]:53", "gone.example:25"],
    internal: ["10.1.2.3:9000"],
  });
  expect(forbidden).toEqual([
    { address: "10.0.0.1", port: 5432 },
    { address: "fd00::1", port: 5432 },
    { address: "fd00::2", port: 53 },
  ]);
  expect(internal).toEqual([{ address: "10.1.2.3", port: 9000 }]);
});

test.each([
  ["http://127.0.0.1:8090/wporg", [{ address: "127.0.0.1", port: 8090 }]],
  ["http://[::1]", [{ address: "::1", port: 80 }]],
  ["https://source.example", [{ address: "93.184.216.34", port: 443 }]],
  ["nonsense", []],
])("the package source %s is found", async (packageSource, expected) => {
  expect((await find({ packageSource })).packageSource).toEqual(expected);
});
