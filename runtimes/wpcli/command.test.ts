import { expect, test } from "vitest";
import { adaptCommand, nestedCommand, pathToRemove } from "./command.ts";

test("search-replace gets --precise", () => {
  expect(adaptCommand(["search-replace", "a", "b"])).toEqual(["search-replace", "a", "b", "--precise"]);
  expect(adaptCommand(["search-replace", "a", "b", "--precise"])).toEqual(["search-replace", "a", "b", "--precise"]);
});

test("all other commands stay unchanged", () => {
  expect(adaptCommand(["plugin", "list"])).toEqual(["plugin", "list"]);
});

test("rm removes exactly one path", () => {
  expect(pathToRemove(["rm", "-rf", "/site/wp-content/plugins/hello"])).toBe("/site/wp-content/plugins/hello");
  expect(pathToRemove(["rm", "-rf", "/site/a", "/site/b"])).toBeNull();
  expect(pathToRemove(["sh", "-c", "/site"])).toBeNull();
});

test.each([
  [
    ["/bin/php", "/wp-cli.phar", "--path=/site", "rewrite", "flush"],
    ["--path=/site", "rewrite", "flush"],
  ],
  [
    ["WP_CLI_CONFIG_PATH=/x", "A=", "/bin/php", "/wp-cli.phar", "@a", "plugin"],
    ["@a", "plugin"],
  ],
  [
    ["/bin/php", "/wp-cli.phar", "--color=", "@a", "plugin"],
    ["@a", "plugin"],
  ],
  [["/bin/php", "/wp-cli.phar"], []],
  [["/bin/php", "/other.php", "rewrite"], null],
  [["/usr/bin/env", "mysql"], null],
  [["A=/bin/php"], null],
  [[], null],
])("%j is the command %j", (command, argv) => {
  expect(nestedCommand(command, "/wp-cli.phar")).toEqual(argv);
});
