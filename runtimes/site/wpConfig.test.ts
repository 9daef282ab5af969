import { expect, test } from "vitest";
import { wpConfig } from "./wpConfig.ts";

test("WP_CACHE is true, so plugins know that pages are cached", () => {
  const config = wpConfig({ address: "http://demo.localhost:8081", multisite: null }, { DB_NAME: "wordpress" });
  expect(config).toContain("define( 'WP_CACHE', true );");
});
