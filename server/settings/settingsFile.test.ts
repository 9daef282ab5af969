import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "./config.ts";
import { formatSettings, givenSettings, movableSettings, settingsPath, withSettingsFile } from "./settingsFile.ts";

let data = "";
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), "sw-settings-"));
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe("settings in the data folder", () => {
  test("apply unless the environment overrides them", () => {
    const values = { SITEWRIGHT_SITE_SUFFIX: "sites.example.com", SITEWRIGHT_EDGE_PORT: "9001" };
    writeFileSync(settingsPath(data), formatSettings(values, "Test"));
    const env = withSettingsFile({ SITEWRIGHT_DATA: data, SITEWRIGHT_EDGE_PORT: "9002", SITEWRIGHT_SITE_SUFFIX: "" });
    expect(loadConfig(env)).toMatchObject({ data, siteSuffix: "sites.example.com", edgePort: 9002 });
  });

  test("can't name another data folder", () => {
    writeFileSync(settingsPath(data), "SITEWRIGHT_DATA=/elsewhere\n");
    expect(withSettingsFile({ SITEWRIGHT_DATA: data }).SITEWRIGHT_DATA).toBe(data);
  });

  test("are optional, and mistakes in them are reported", () => {
    rmSync(settingsPath(data));
    expect(withSettingsFile({ SITEWRIGHT_DATA: data })).toEqual({ SITEWRIGHT_DATA: data });
    writeFileSync(settingsPath(data), "SITEWRIGHT_EDGEPORT=1\n");
    expect(() => loadConfig(withSettingsFile({ SITEWRIGHT_DATA: data }))).toThrow(
      "SITEWRIGHT_EDGEPORT is not a setting",
    );
  });
});

test("settings of one machine, or of its first startup, are not movable", () => {
  const movable = { SITEWRIGHT_BACKUP_DAYS: "30", SITEWRIGHT_HOST: "0.0.0.0", SITEWRIGHT_ARCHIVE_URL: "file:///a" };
  const others = {
    SITEWRIGHT_DATA: "/data",
    SITEWRIGHT_ASSETS: "/assets",
    SITEWRIGHT_RUN: "/run",
    DATABASE_URL: "postgresql://x",
    SITEWRIGHT_FIRST_API_KEY: "a key that is long",
    SITEWRIGHT_BACKUP_PASSPHRASE: "secret",
    PATH: "/bin",
  };
  expect(movableSettings({ ...others, ...movable, SITEWRIGHT_EDGE_PORT: "" })).toEqual(movable);
});

test("all settings that are given are compared, also those of one machine and secret ones", () => {
  const given = { DATABASE_URL: "postgresql://x", SITEWRIGHT_FIRST_USER_ID: "300000", SITEWRIGHT_DATA: "/data" };
  expect(givenSettings({ ...given, SITEWRIGHT_EDGE_PORT: "", PATH: "/bin" })).toEqual(given);
});

test.each(["s3://KEY:a%2F'b@host/bucket?region=x", "with \"both\" 'quotes'", "# no comment", "back\\nslash", " "])(
  "%s is quoted so that the same value is read",
  (value) => {
    expect(parseEnv(formatSettings({ SITEWRIGHT_ARCHIVE_URL: value }, "Test")).SITEWRIGHT_ARCHIVE_URL).toBe(value);
  },
);

test.each([
  ["0.0.0.0", "0.0.0.0"],
  ["::", "::"],
  ["127.0.0.1", "127.0.0.1"],
  ["203.0.113.7", undefined],
])("the listen address %s of another machine becomes %s", (host, expected) => {
  const text = formatSettings({ SITEWRIGHT_HOST: host }, "Test");
  expect(text).toContain(host);
  expect(parseEnv(text).SITEWRIGHT_HOST).toBe(expected);
});
