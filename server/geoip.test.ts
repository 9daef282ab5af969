import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openGeoip } from "./geoip.ts";
import { makePlaceDatabase } from "./testing/placeDatabase.ts";

async function fileWith(content: Buffer | string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "swplaces-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "places.mmdb");
  await writeFile(file, content);
  return file;
}

test("returns the country and city of known addresses, and null for others", async () => {
  const database = makePlaceDatabase([
    { network: "203.0.113.0/24", country: "DE", city: "Berlin" },
    { network: "198.51.100.128/25", country: "FR" },
  ]);
  const locate = await openGeoip(await fileWith(database));
  expect(locate("203.0.113.77")).toEqual({ country: "DE", city: "Berlin" });
  expect(locate("198.51.100.200")).toEqual({ country: "FR", city: null });
  for (const address of ["198.51.100.1", "192.0.2.1", "::1", "2001:db8::1", "", "nowhere"]) {
    expect(locate(address)).toEqual({ country: null, city: null });
  }
});

test("an invalid file is reported with its setting", async () => {
  const file = await fileWith("not a database");
  await expect(openGeoip(file)).rejects.toThrow(`SITEWRIGHT_GEOIP=${file} can't be read`);
  await expect(openGeoip("/nowhere.mmdb")).rejects.toThrow("SITEWRIGHT_GEOIP=/nowhere.mmdb can't be read");
});
