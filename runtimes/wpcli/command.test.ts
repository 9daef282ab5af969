import { expect, test } from "vitest";
import { wpConfig } from "../site/wpConfig.ts";
import { adaptCommand, nestedCommand, pathToRemove } from "./command.ts";

const newConfig = wpConfig({ address: "http://a.localhost", multisite: null }, {});
/** As sites of earlier versions have it. */
const ownConfig = newConfig.replace(/^.*stop editing.*\n/m, "");

test("search-replace gets --precise", () => {
  expect(adaptCommand(["search-replace", "a", "b"], "")).toEqual(["search-replace", "a", "b", "--precise"]);
  expect(adaptCommand(["search-replace", "a", "b", "--precise"], "")).toEqual([
    "search-replace",
    "a",
    "b",
    "--precise",
  ]);
});

test("config set gets an anchor for our earlier wp-config.php, and only for that", () => {
  const argv = ["config", "set", "WP_DEBUG_LOG", "true", "--raw"];
  expect(adaptCommand(argv, ownConfig).at(-1)).toBe("--anchor=if ( ! defined( 'ABSPATH' ) )");
  expect(adaptCommand(argv, "<?php\n/* That's all, stop editing! */\nif ( ! defined( 'ABSPATH' ) )")).toEqual(argv);
  expect(adaptCommand(argv, newConfig)).toEqual(argv);
  expect(adaptCommand([...argv, "--anchor=x"], ownConfig)).toEqual([...argv, "--anchor=x"]);
});

test("all other commands stay unchanged", () => {
  expect(adaptCommand(["plugin", "list"], ownConfig)).toEqual(["plugin", "list"]);
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
