import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createLogins } from "./logins.ts";

const hashOf = (token: string) => createHash("sha256").update(token).digest("hex");
const ada = { environmentId: "one", userId: 1, login: "ada" };

/** Logins, and a clock that stands still until it is set. */
function open() {
  let time = 0;
  const logins = createLogins(() => time);
  const offer = (token: string, login = ada, seconds = 60) => logins.add(hashOf(token), login, seconds);
  return { ...logins, offer, passes: (seconds: number) => (time += seconds * 1000) };
}

test("a token is found as often as one looks, and taken once", () => {
  const { offer, find, use: take } = open();
  offer("token");
  expect([find("token", "one"), find("token", "one")]).toMatchObject([ada, ada]);
  expect(take("token", "one")).toMatchObject(ada);
  expect([take("token", "one"), find("token", "one")]).toEqual([null, null]);
});

test("what is stored of a token doesn't let anybody in", () => {
  const { offer, find } = open();
  offer("token");
  expect(find(hashOf("token"), "one")).toBeNull();
  expect(find("", "one")).toBeNull();
});

test("at another environment it is none, and stays good at its own", () => {
  const { offer, use: take } = open();
  offer("token");
  expect(take("token", "two")).toBeNull();
  expect(take("token", "one")).toMatchObject(ada);
});

test("it ends with its time", () => {
  const { offer, find, use: take, passes } = open();
  offer("token");
  passes(59.9);
  expect(find("token", "one")).toMatchObject(ada);
  passes(0.1);
  expect([find("token", "one"), take("token", "one")]).toEqual([null, null]);
});

test("one environment's links push out its own oldest ones, and nobody else's", () => {
  const { offer, find } = open();
  offer("other", { ...ada, environmentId: "two" });
  for (let i = 0; i < 1_000; i += 1) offer(`token ${i}`);
  expect(find("other", "two")).not.toBeNull();
  const left = Array.from({ length: 1_000 }, (_, i) => find(`token ${i}`, "one")).filter((login) => login !== null);
  expect(left.length).toBe(50);
  expect(find("token 999", "one")).not.toBeNull();
});

test("however many environments ask, there is an end to it", () => {
  const { offer, find } = open();
  for (let i = 0; i < 10_050; i += 1) offer(`token ${i}`, { ...ada, environmentId: `environment ${i}` });
  const left = Array.from({ length: 10_050 }, (_, i) => find(`token ${i}`, `environment ${i}`));
  expect(left.filter((login) => login !== null).length).toBe(10_000);
  expect(left.at(-1)).not.toBeNull();
}, 60_000);
