import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createLogins } from "./logins.ts";

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
const ada = { environmentId: "one", userId: 1, login: "ada" };

/** Login links with a clock that only moves when the test says so. */
function open() {
  let time = 0;
  const logins = createLogins(() => time);
  const add = (token: string, login = ada, seconds = 60) => logins.add(hashOf(token), login, seconds);
  return { ...logins, add, advance: (seconds: number) => (time += seconds * 1000) };
}

test("a token can be found repeatedly but used only once", () => {
  const { add, find, use } = open();
  add("token");
  expect([find("token", "one"), find("token", "one")]).toMatchObject([ada, ada]);
  expect(use("token", "one")).toMatchObject(ada);
  expect([use("token", "one"), find("token", "one")]).toEqual([null, null]);
});

test("the stored hash is not a valid token", () => {
  const { add, find } = open();
  add("token");
  expect(find(hashOf("token"), "one")).toBeNull();
  expect(find("", "one")).toBeNull();
});

test("a token is not valid for another environment, and stays valid for its own", () => {
  const { add, use } = open();
  add("token");
  expect(use("token", "two")).toBeNull();
  expect(use("token", "one")).toMatchObject(ada);
});

test("a token expires", () => {
  const { add, find, use, advance } = open();
  add("token");
  advance(59.9);
  expect(find("token", "one")).toMatchObject(ada);
  advance(0.1);
  expect([find("token", "one"), use("token", "one")]).toEqual([null, null]);
});

test("too many links of an environment displace its own oldest ones only", () => {
  const { add, find } = open();
  add("other", { ...ada, environmentId: "two" });
  for (let i = 0; i < 1_000; i += 1) add(`token ${i}`);
  expect(find("other", "two")).not.toBeNull();
  const left = Array.from({ length: 1_000 }, (_, i) => find(`token ${i}`, "one")).filter((login) => login !== null);
  expect(left.length).toBe(50);
  expect(find("token 999", "one")).not.toBeNull();
});

test("the total number of links is limited", () => {
  const { add, find } = open();
  for (let i = 0; i < 10_050; i += 1) add(`token ${i}`, { ...ada, environmentId: `environment ${i}` });
  const left = Array.from({ length: 10_050 }, (_, i) => find(`token ${i}`, `environment ${i}`));
  expect(left.filter((login) => login !== null).length).toBe(10_000);
  expect(left.at(-1)).not.toBeNull();
}, 60_000);
