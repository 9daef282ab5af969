import { expect, test } from "vitest";
import { createCacheableAddresses } from "./cacheableAddresses.ts";

const at = (url: string, environmentId = "one") => ({ environmentId, url });

test("remembers addresses of each environment until they are removed", () => {
  const addresses = createCacheableAddresses();
  addresses.add(at("/a"));
  addresses.add(at("/b"));
  expect([at("/a"), at("/b"), at("/c"), at("/a", "two")].map(addresses.has)).toEqual([true, true, false, false]);
  addresses.remove(at("/a"));
  addresses.remove(at("/c", "three"));
  expect([at("/a"), at("/b")].map(addresses.has)).toEqual([false, true]);
});

test("forgets environments that are no longer served", () => {
  const addresses = createCacheableAddresses();
  addresses.add(at("/a"));
  addresses.add(at("/a", "two"));
  addresses.retain(["two"]);
  expect([at("/a"), at("/a", "two")].map(addresses.has)).toEqual([false, true]);
});

test("made-up addresses push out only those of their own environment", () => {
  const addresses = createCacheableAddresses();
  addresses.add(at("/a"));
  addresses.add(at("/a", "two"));
  for (let made = 0; made < 5_000; made += 1) addresses.add(at(`/?cpage=${made}`));
  expect([at("/a"), at("/?cpage=0"), at("/a", "two")].map(addresses.has)).toEqual([false, true, true]);
});
