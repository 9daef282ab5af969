import { expect, test } from "vitest";
import { wpConfig } from "../site/wpConfig.ts";
import { adaptCommand, pathToRemove, usesRm } from "./command.ts";

const ownConfig = wpConfig({ address: "http://a.localhost", multisite: null });

test("search-replace gets --precise", () => {
  expect(adaptCommand(["search-replace", "a", "b"], "")).toEqual(["search-replace", "a", "b", "--precise"]);
  expect(adaptCommand(["search-replace", "a", "b", "--precise"], "")).toEqual([
    "search-replace",
    "a",
    "b",
    "--precise",
  ]);
});

test("config set gets an anchor for our wp-config.php, and only for ours", () => {
  const argv = ["config", "set", "WP_DEBUG_LOG", "true", "--raw"];
  expect(adaptCommand(argv, ownConfig).at(-1)).toBe("--anchor=if ( ! defined( 'ABSPATH' ) )");
  expect(adaptCommand(argv, "<?php\n/* That's all, stop editing! */\nif ( ! defined( 'ABSPATH' ) )")).toEqual(argv);
  expect(adaptCommand([...argv, "--anchor=x"], ownConfig)).toEqual([...argv, "--anchor=x"]);
});

test("all other commands stay unchanged", () => {
  expect(adaptCommand(["plugin", "list"], ownConfig)).toEqual(["plugin", "list"]);
});

test("only plugin deletion may start rm, and only to remove one folder", () => {
  expect(usesRm(["plugin", "--quiet", "delete", "hello"])).toBe(true);
  expect(usesRm(["eval", "plugin", "delete"])).toBe(false);
  expect(pathToRemove(["rm", "-rf", "/site/wp-content/plugins/hello"])).toBe("/site/wp-content/plugins/hello");
  expect(pathToRemove(["rm", "-rf", "/site/a", "/site/b"])).toBeNull();
  expect(pathToRemove(["sh", "-c", "/site"])).toBeNull();
});
