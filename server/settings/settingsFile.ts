/**
 * Settings in the data folder, in `settings.env`: what a person or a restore puts there holds for every start, as if it were in
 * the environment. Where the environment says something else, that holds.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ConfigError } from "./config.ts";
import { settings } from "./settings.ts";

export const settingsPath = (data: string): string => join(data, "settings.env");

/** They are about one machine, or about its first start. */
const ofOneMachine = new Set([
  "SITEWRIGHT_DATA",
  "SITEWRIGHT_ASSETS",
  "SITEWRIGHT_RUN",
  "SITEWRIGHT_FIRST_API_KEY",
  "DATABASE_URL",
]);

/** The environment together with the file of the data folder that it names. Throws `ConfigError`. */
export function withSettingsFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SITEWRIGHT_DATA: _, ...kept } = readSettings(resolve(env.SITEWRIGHT_DATA || "data"));
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ""));
  return { ...env, ...kept, ...given };
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

/** Of the environment what would hold on another machine too. */
export function movableSettings(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(settings.entries).filter((name) => !ofOneMachine.has(name));
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

/** The text of such a file. An address that only the other machine has is left to the person. */
export function formatSettings(values: Readonly<Record<string, string>>, title: string): string {
  const lines = Object.entries(values).map(([name, value]) => {
    const isElsewhere = name === "SITEWRIGHT_HOST" && !/^(127\.|0\.0\.0\.0$|::1?$)/.test(value);
    return `${isElsewhere ? "# " : ""}${name}=${quoted(value)}`;
  });
  return [`# ${title}`, "# What the environment of a start says comes before what this file says.", ...lines, ""].join(
    "\n",
  );
}

function quoted(value: string): string {
  const written = ["'", '"', "`"].map((quote) => `${quote}${value}${quote}`);
  const right = written.find((text) => parseEnv(`NAME=${text}`).NAME === value);
  if (right === undefined) throw new Error("A setting has every kind of quotation mark in it");
  return right;
}
