/** Locates visitors with a database in MaxMind's format. */
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { type CityResponse, Reader } from "maxmind";

interface VisitorLocation {
  /** Two capital letters, or null if unknown. */
  readonly country: string | null;
  /** In English, or null if unknown. */
  readonly city: string | null;
}

/** Rejects with the name of the setting if the file is not a readable database. */
export async function openGeoip(file: string): Promise<(address: string) => VisitorLocation> {
  const reader = await open(file);
  return (address) => {
    const found = isIP(address) === 0 ? null : reader.get(address);
    return { country: found?.country?.iso_code ?? null, city: found?.city?.names.en ?? null };
  };
}

async function open(file: string): Promise<Reader<CityResponse>> {
  try {
    return new Reader<CityResponse>(await readFile(file));
  } catch (cause) {
    throw new Error(`SITEWRIGHT_GEOIP=${file} can't be read. Name a database in MaxMind's format (.mmdb).`, { cause });
  }
}
