import { expect, test } from "vitest";
import { wpConfig } from "../site/wpConfig.ts";
import { adapted, removedPath, removesFolders } from "./command.ts";

const ownConfig = wpConfig({ address: "http://a.localhost", multisite: null });

test("search-replace counts row by row", () => {
  expect(adapted(["search-replace", "a", "b"], "")).toEqual(["search-replace", "a", "b", "--precise"]);
  expect(adapted(["search-replace", "a", "b", "--precise"], "")).toEqual(["search-replace", "a", "b", "--precise"]);
});

test("config set is told where to put what is new into our own file, and only there", () => {
  const argv = ["config", "set", "WP_DEBUG_LOG", "true", "--raw"];
  expect(adapted(argv, ownConfig).at(-1)).toBe("--anchor=if ( ! defined( 'ABSPATH' ) )");
  expect(adapted(argv, "<?php\n/* That's all, stop editing! */\nif ( ! defined( 'ABSPATH' ) )")).toEqual(argv);
  expect(adapted([...argv, "--anchor=x"], ownConfig)).toEqual([...argv, "--anchor=x"]);
});

test("anything else is as it was typed", () => {
  expect(adapted(["plugin", "list"], ownConfig)).toEqual(["plugin", "list"]);
});

test("only what removes plugins may start rm, and rm can do one thing", () => {
  expect(removesFolders(["plugin", "--quiet", "delete", "hello"])).toBe(true);
  expect(removesFolders(["eval", "plugin", "delete"])).toBe(false);
  expect(removedPath(["rm", "-rf", "/site/wp-content/plugins/hello"])).toBe("/site/wp-content/plugins/hello");
  expect(removedPath(["rm", "-rf", "/site/a", "/site/b"])).toBeNull();
  expect(removedPath(["sh", "-c", "/site"])).toBeNull();
});
