/** `first-run`: where the first company's credentials are, and how to delete them. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { firstRunPath } from "@sitewright/supervisor/records.ts";
import { syncFolder } from "../durableFile.ts";
import type { Run } from "./command.ts";

export const firstRun: Run = async ({ flags }, { config: { data } }) => {
  const file = firstRunPath(data);
  if (!existsSync(file)) return `There is no ${file}: it was deleted, or Sitewright has not been started yet.`;
  if (flags.forget !== true) {
    return `${file} has the first company's API key and password. Store them elsewhere, then run: first-run --forget`;
  }
  await rm(file);
  await syncFolder(data);
  return `${file} is deleted. The key and the password in it stay valid.`;
};
