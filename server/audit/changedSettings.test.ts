import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { useTestDatabase } from "../testing/database.ts";
import { recordChangedSettings } from "./changedSettings.ts";

const test = useTestDatabase();
let data: string;

beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "sitewright-settings-"));
});
afterEach(() => rm(data, { recursive: true }));

const start = (values: Readonly<Record<string, string>>) =>
  recordChangedSettings({ database: test.database, data, values });

it("records the names of settings that were added, changed or removed, and never a value", async () => {
  const before = {
    SITEWRIGHT_HOST: "127.0.0.1",
    SITEWRIGHT_SMTP_URL: "smtp://me:secret@mail",
    SITEWRIGHT_MAIL_DAYS: "7",
  };
  await start(before);
  await start(before);
  const log = test.database.selectFrom("activity").selectAll();
  expect(await log.execute()).toEqual([]);
  await start({
    SITEWRIGHT_HOST: "0.0.0.0",
    SITEWRIGHT_SMTP_URL: "smtp://me:secret2@mail",
    SITEWRIGHT_REGIONS: "us-east1",
  });
  const [entry, ...more] = await log.execute();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({ company_id: null, type: "changeSettings", is_done: true, has_failed: false });
  const names = "SITEWRIGHT_HOST, SITEWRIGHT_MAIL_DAYS, SITEWRIGHT_REGIONS, SITEWRIGHT_SMTP_URL";
  expect(entry?.parameters).toEqual({ settings: names });
  expect(await readFile(join(data, "settings-hashes.json"), "utf8")).not.toContain("secret");
});
