import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ensureFirstCompany } from "./app/company/companies.ts";
import { addressesOf, refreshFirstRun, writeFirstRun } from "./firstRun.ts";
import { createTestDatabase } from "./testing/database.ts";

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "swfirst-"));
});
afterEach(async () => {
  await rm(data, { recursive: true });
});

const settings = { apiHost: "127.0.0.1", controlPort: 8080, publicPort: 8081, dnsPort: 8053, siteSuffix: "localhost" };
const addresses = addressesOf(settings);
const facts = { company_id: "c", api_key: "k", admin_email: "e", admin_password: "p" };
const file = () => join(data, "first-run.json");

async function readFacts(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(file(), "utf8"));
}

describe("addresses", () => {
  test.each([
    [settings, "http://127.0.0.1:8080/v2", "http://localhost:8081"],
    [
      { ...settings, apiHost: "0.0.0.0", siteSuffix: "sites.example.com", publicPort: 80 },
      "http://127.0.0.1:8080/v2",
      "http://sites.example.com",
    ],
    [{ ...settings, apiHost: "::", controlPort: 80 }, "http://[::1]/v2", "http://localhost:8081"],
    [{ ...settings, apiHost: "fe80::1" }, "http://[fe80::1]:8080/v2", "http://localhost:8081"],
  ])("of %o are valid URLs", (given, api, sites) => {
    const made = addressesOf(given);
    expect(made).toMatchObject({ api_url: api, sites_url: sites });
    expect(URL.canParse(made.console_url)).toBe(true);
  });
});

describe("the first-run file", () => {
  test("can be read only by its owner", async () => {
    await writeFirstRun(data, { ...addresses, ...facts });
    expect(await readFacts()).toEqual({ ...addresses, ...facts });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  test("follows address changes, and is not created again after it was removed", async () => {
    await writeFirstRun(data, { ...addresses, ...facts });
    const moved = addressesOf({ ...settings, controlPort: 9090 });
    await refreshFirstRun(data, moved);
    expect(await readFacts()).toEqual({ ...facts, ...moved });
    await rm(file());
    await refreshFirstRun(data, moved);
    await expect(readFacts()).rejects.toThrow();
  });

  test("is written before the company is committed, so that a crash leaves no company with an unknown key", async () => {
    await using own = await createTestDatabase();
    const crash = async () => {
      throw new Error("crash");
    };
    await expect(ensureFirstCompany(own.database, null, crash)).rejects.toThrow("crash");
    expect(await own.database.selectFrom("companies").selectAll().execute()).toEqual([]);
    await writeFile(file(), "the facts of a company that never was");
    const company = await ensureFirstCompany(own.database, null, (made) =>
      writeFirstRun(data, { ...addresses, ...made }),
    );
    expect(await readFacts()).toEqual({ ...addresses, ...company });
  });
});
