/**
 * `settings.env` in the data folder: settings that apply at every startup, written by the operator or a restore. Environment
 * variables take precedence.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError } from "./config.ts";
import { settings } from "./settings.ts";

export const settingsPath = (data: string): string => join(data, "settings.env");

/** Settings that apply only to one machine, or to its first startup. */
const machineSettings = new Set([
  "SITEWRIGHT_DATA",
  "SITEWRIGHT_ASSETS",
  "SITEWRIGHT_RUN",
  "SITEWRIGHT_FIRST_USER_ID",
  "SITEWRIGHT_FIRST_API_KEY",
  "DATABASE_URL",
]);

/** Returns the environment with the settings file of its data folder. Throws `ConfigError`. */
export function withSettingsFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SITEWRIGHT_DATA: _, ...stored } = readSettings(resolve(env.SITEWRIGHT_DATA || "data"));
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  return { ...env, ...stored, ...given };
}

function readSettings(data: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(settingsPath(data), "utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ENOENT" || code === "ENOTDIR") return {};
    throw new ConfigError([`${settingsPath(data)} can't be read (${code}).`]);
  }
}

/** The settings in the environment that also apply to another machine. */
export function movableSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(givenSettings(env)).filter(([name]) => !machineSettings.has(name)));
}

/** The settings in the environment, secret ones too. */
export function givenSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.keys(settings.entries).flatMap((name) => {
      const value = env[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

/** Formats a settings file. A listen address that only the old machine has is commented out. */
export function formatSettings(values: Readonly<Record<string, string>>, title: string): string {
  const lines = Object.entries(values).map(([name, value]) => {
    const isOldAddress =
      ["SITEWRIGHT_HOST", "SITEWRIGHT_API_HOST"].includes(name) && !/^(127\.|0\.0\.0\.0$|::1?$)/.test(value);
    return `${isOldAddress ? "# " : ""}${name}=${quoted(value)}`;
  });
  return [`# ${title}`, "# Environment variables take precedence over this file.", ...lines, ""].join("\n");
}

function quoted(value: string): string {
  const candidates = ["'", '"', "`"].map((quote) => `${quote}${value}${quote}`);
  const valid = candidates.find((text) => parseEnv(`NAME=${text}`).NAME === value);
  if (valid === undefined) throw new Error("A setting contains every kind of quotation mark");
  return valid;
}
