/** What the API can do can be done in the console, too. */
import { expect, test } from "vitest";
import { notCalled } from "./testing/consoleCalls.ts";

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

test("the console calls every endpoint, except those that are listed with a reason", () => {
  expect(notCalled.filter((name) => !(name in exceptions))).toEqual([]);
});

test("no exception is out of date", () => {
  expect(Object.keys(exceptions).filter((name) => !notCalled.includes(name))).toEqual([]);
});
