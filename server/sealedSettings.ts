/**
 * Settings whose values are sealed, so that files with settings contain no secrets. A sealed value is `sealed:` and base64, and
 * bound to the name of its setting.
 */
import { join, resolve } from "node:path";
import { readSealer, type Sealer } from "./sealing.ts";
import { ConfigError } from "./settings/config.ts";
import { secretSettings } from "./settings/settings.ts";
import { withSettingsFile } from "./settings/settingsFile.ts";

const prefix = "sealed:";
const contextOf = (name: string) => `setting:${name}`;

/** The file of the keys with which the secrets of a data folder are sealed. */
export const secretsKeyFile = (data: string): string => join(data, "secrets", "key");

/** The file of the keys with which backups are encrypted. */
export const archiveKeyFile = (data: string): string => join(data, "secrets", "archive-key");

/** Returns the environment with the settings file of its data folder, without sealed values. Throws `ConfigError`. */
export function readEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return openSettings(withSettingsFile(env), resolve(env.SITEWRIGHT_DATA || "data"));
}

/** Seals the values of secret settings. */
export function sealSettings(
  values: Readonly<Record<string, string>>,
  sealer: Pick<Sealer, "seal">,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      secretSettings.has(name) ? sealOne(name, value, sealer) : value,
    ]),
  );
}

/** Opens the sealed values with the keys of the data folder. Throws `ConfigError` if one can't be opened. */
export function openSettings<Values extends NodeJS.Dict<string>>(values: Values, data: string): Values {
  const sealed = Object.entries(values).flatMap(([name, value]) =>
    value?.startsWith(prefix) ? [{ name, value }] : [],
  );
  if (sealed.length === 0) return values;
  const sealer = readSealer(secretsKeyFile(data));
  const opened = sealed.map(({ name, value }) => [name, openOne(name, value, sealer, data)]);
  return { ...values, ...Object.fromEntries(opened) };
}

/** Seals every sealed value in a text with settings again, unless it was sealed with the newest key. */
export function resealSettings(text: string, sealer: Sealer) {
  let count = 0;
  let damaged = 0;
  const resealed = text.replace(/\bsealed:[A-Za-z0-9+/]+=*/g, (value) => {
    const bytes = Buffer.from(value.slice(prefix.length), "base64");
    if (sealer.isCurrent(bytes)) return value;
    const name = [...secretSettings].find((each) => canOpen(each, bytes, sealer));
    if (name === undefined) {
      damaged += 1;
      return value;
    }
    count += 1;
    return sealOne(name, sealer.open(bytes, contextOf(name)), sealer);
  });
  return { text: resealed, count, damaged };
}

function canOpen(name: string, sealed: Buffer, sealer: Sealer): boolean {
  try {
    sealer.open(sealed, contextOf(name));
    return true;
  } catch {
    return false;
  }
}

function sealOne(name: string, value: string, sealer: Pick<Sealer, "seal">): string {
  return `${prefix}${sealer.seal(value, contextOf(name)).toString("base64")}`;
}

function openOne(name: string, value: string, sealer: Sealer | null, data: string): string {
  try {
    if (sealer === null) throw new Error("There is no key");
    return sealer.open(Buffer.from(value.slice(prefix.length), "base64"), contextOf(name));
  } catch {
    const file = secretsKeyFile(data);
    throw new ConfigError([
      `${name} is sealed, and can't be opened with ${file}. Put the right key file back, or set the value again.`,
    ]);
  }
}
