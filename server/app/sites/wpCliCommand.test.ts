import { expect, test } from "vitest";
import { Refused } from "../failures.ts";
import { nameOf, splitCommand } from "./wpCliCommand.ts";
import { refuseUnsupported } from "./wpCliUnsupported.ts";

test.each([
  ["wp plugin list", ["wp", "plugin", "list"]],
  ["wp  option\tupdate\nblogname  'My garden' ", ["wp", "option", "update", "blogname", "My garden"]],
  ["wp user create --user_pass='a b'c x", ["wp", "user", "create", "--user_pass=a bc", "x"]],
  ["wp option update x ''", ["wp", "option", "update", "x", ""]],
  ["wp ''''", ["wp", ""]],
])("splits %j into words", (command, words) => {
  expect(splitCommand(command)).toEqual(words);
});

test("rejects an unclosed quote", () => {
  expect(splitCommand("wp option get 'blogname")).toBeNull();
});

test.each([
  [["plugin", "list", "--format=json"], "plugin list"],
  [["--debug", "user", "create", "bob", "--user_pass=secret"], "user create"],
  [["config", "set", "DB_PASSWORD", "secret"], "config set"],
  [["eval", "secret"], "eval"],
  [["search-replace", "secret", "x"], "search-replace"],
  [["yoast", "index"], "yoast"],
  [["user", "Secret1"], "user"],
  [["p4ssw0rd"], "…"],
  [["--info"], "…"],
])("shows %j as %j", (argv, name) => {
  expect(nameOf(argv)).toBe(name);
});

test.each([
  [["db", "reset", "--yes"], "reset-site"],
  [["--quiet", "db", "cli"], "db query"],
  [["cli", "alias", "add", "@a", "--set-url=x"], "not kept"],
  [["cron", "test"], "the platform runs scheduled events"],
  [["core", "update"], "only the platform changes it"],
  [["shell"], "Use `eval`"],
  [["server", "--port=80"], "can't listen"],
  [["package", "install", "x/y"], "not kept"],
  [["cli", "update"], "which updates it"],
  [["plugin", "list", "--ssh=root@example.com"], "only in the environment"],
  [["plugin", "list", "--path=/etc"], "only in the environment"],
  [["@production", "plugin", "list"], "only in the environment"],
])("rejects %j and says what to do instead", (argv, hint) => {
  expect(() => refuseUnsupported(argv)).toThrow(Refused);
  expect(() => refuseUnsupported(argv)).toThrow(hint);
});

test.each([
  [["eval", "echo 1;"]],
  [["db", "tables"]],
  [["db", "query", "SELECT 1"]],
  [["cli", "alias", "list"]],
  [["cron", "event", "list"]],
  [["core", "update-db"]],
  [["core", "version"]],
  [["user", "create", "bob", "bob@example.com"]],
  [["plugin", "list", "--url=http://a.localhost/second"]],
])("accepts %j", (argv) => {
  expect(() => refuseUnsupported(argv)).not.toThrow();
});
