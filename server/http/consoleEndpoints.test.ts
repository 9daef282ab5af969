/** What the API can do can be done in the console, too. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endpoints } from "@sitewright/contract/endpoints.ts";
import { expect, test } from "vitest";

/** What the console does not call, and why. */
const exceptions: Readonly<Record<string, string>> = {
  hasWpAdminUser: "The login link says whether there is such an administrator.",
  listPluginsOfContainer: "The old format of listPlugins.",
  listThemesOfContainer: "The old format of listThemes.",
  updatePlugin: "updatePlugins installs the newest version, also of one plugin.",
  updateTheme: "updateThemes installs the newest version, also of one theme.",
  getZoneVersion: "compareZoneVersions shows what a version has, next to what there is now.",
  getVisitsAnalytics: "getAnalytics has the visits, too.",
  getBandwidthAnalytics: "getAnalytics has the bandwidth, too.",
  getDiskSpaceAnalytics: "getAnalytics has the disk space, too.",
  getVisitsThisMonth: "getAnalytics has the visits of any period; the console shows up to 30 days.",
  getBandwidthThisMonth: "getAnalytics has the bandwidth of any period; the console shows up to 30 days.",
  removeSecondFactor:
    "The console removes the app and each passkey by itself; without the last one there is no second factor.",
  listEvents: "The browser itself opens the stream, with EventSource (`api/eventStream.ts`).",
  validateKey: "It is about the API key of a call; the console has a session.",
};

const folder = join(import.meta.dirname, "../../console/app");
const sources = globSync("**/*.{ts,tsx}", { cwd: folder })
  .filter((file) => !file.endsWith(".d.ts"))
  .map((file) => readFileSync(join(folder, file), "utf8"));

/** Calls of the client, and paths of links. */
const calls = new Set(
  sources.flatMap((text) => [
    ...[...text.matchAll(/api\s*\.(GET|POST|PUT|DELETE)\(\s*"([^"]+)"/g)].map(
      ([, method, path]) => `${method} ${path}`,
    ),
    ...[...text.matchAll(/: keyof paths = "([^"]+)"/g)].map(([, path]) => `GET ${path}`),
  ]),
);

const notCalled = Object.entries(endpoints)
  .filter(([, { method, path }]) => !calls.has(`${method} ${path}`))
  .map(([name]) => name);

test("the console calls every endpoint, except those that are listed with a reason", () => {
  expect(notCalled.filter((name) => !(name in exceptions))).toEqual([]);
});

test("no exception is out of date", () => {
  expect(Object.keys(exceptions).filter((name) => !notCalled.includes(name))).toEqual([]);
});
