import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSettings, readEnvironment, sealSettings, secretsKeyFile } from "./sealedSettings.ts";
import { openSealer, type Sealer } from "./sealing.ts";
import { secretSettings } from "./settings/settings.ts";

let data: string;
let sealer: Sealer;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swsettings-"));
  sealer = await openSealer(secretsKeyFile(data));
});
afterEach(async () => {
  await rm(data, { recursive: true });
});

describe("sealed settings", () => {
  const values = { SITEWRIGHT_SMTP_URL: "smtp://mailer:hush@mail.example", SITEWRIGHT_BACKUP_DAYS: "30" };

  test("hide every secret setting, leave the others readable, and can be opened again", () => {
    for (const name of secretSettings) {
      const sealed = sealSettings({ ...values, [name]: "smtp://mailer:hush@mail.example" }, sealer);
      expect(JSON.stringify(sealed)).not.toContain("hush");
      expect(sealed.SITEWRIGHT_BACKUP_DAYS).toBe("30");
      expect(openSettings(sealed, data)).toMatchObject({ ...values, [name]: "smtp://mailer:hush@mail.example" });
    }
  });

  test("work in the settings file and in the environment", async () => {
    const { SITEWRIGHT_SMTP_URL, SITEWRIGHT_METRICS_TOKEN } = sealSettings(
      { ...values, SITEWRIGHT_METRICS_TOKEN: "a-token-for-metrics" },
      sealer,
    );
    await writeFile(join(data, "settings.env"), `SITEWRIGHT_SMTP_URL='${SITEWRIGHT_SMTP_URL}'\n`);
    const env = readEnvironment({ SITEWRIGHT_DATA: data, SITEWRIGHT_METRICS_TOKEN });
    expect(env).toMatchObject({
      SITEWRIGHT_SMTP_URL: "smtp://mailer:hush@mail.example",
      SITEWRIGHT_METRICS_TOKEN: "a-token-for-metrics",
    });
  });

  test("can't be opened under another name, or with another key", async () => {
    const { SITEWRIGHT_SMTP_URL } = sealSettings(values, sealer);
    const moved = { SITEWRIGHT_METRICS_TOKEN: SITEWRIGHT_SMTP_URL };
    expect(() => openSettings(moved, data)).toThrow(/SITEWRIGHT_METRICS_TOKEN is sealed, and can't be opened with /);
    const key = await readFile(secretsKeyFile(data), "utf8");
    await rm(secretsKeyFile(data));
    expect(() => openSettings({ SITEWRIGHT_SMTP_URL }, data)).toThrow("Put the right key file back");
    await openSealer(secretsKeyFile(data));
    expect(() => openSettings({ SITEWRIGHT_SMTP_URL }, data)).toThrow("Put the right key file back");
    await writeFile(secretsKeyFile(data), key);
    expect(openSettings({ SITEWRIGHT_SMTP_URL }, data)).toMatchObject({
      SITEWRIGHT_SMTP_URL: values.SITEWRIGHT_SMTP_URL,
    });
  });
});
