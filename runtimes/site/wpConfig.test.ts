import { expect, test } from "vitest";
import { wpConfig } from "./wpConfig.ts";

test("plugins are told that pages are cached", () => {
  const config = wpConfig({ address: "http://demo.localhost:8081", multisite: null }, { DB_NAME: "wordpress" });
  expect(config).toContain("define( 'WP_CACHE', true );");
});
