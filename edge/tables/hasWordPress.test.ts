import { expect, test } from "vitest";
import { makeEnvironment } from "../testing/withEdge.ts";
import { hasWordPress } from "./hasWordPress.ts";

test.each([
  [true, { wordpressVersion: "7.1.1" }],
  [false, { wordpressVersion: null }],
  [true, { overlays: { "wp-admin": "/core/wp-admin" } }],
  [false, { overlays: {} }],
])("is %s in an environment with %j, also in a table of an older version", (expected, facts) => {
  expect(hasWordPress(makeEnvironment("/site", facts))).toBe(expected);
});
