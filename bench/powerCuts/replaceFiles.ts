/**
 * Replaces files as Sitewright does until the power is cut, and tells each one that is stored:
 * `node replaceFiles.ts <cycle> <folder> <how SQLite synchronises>`. First tells what the files contain. In cycle 0, that is all.
 */
import { openSync, writeSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isTemporaryName, writeDurableFile } from "@sitewright/server/durableFile.ts";

const fileCount = 5;
const mostPauseMilliseconds = 400;

const [cycle = "", folder = "", synchronous = ""] = process.argv.slice(2);
const port = openSync("/dev/ttyS1", "w");
const tell = (line: string): void => {
  writeSync(port, `${line}\n`);
};

// Each line of a file names one of its versions.
const contents = new Map<string, string>();
for (const name of await readdir(folder)) {
  if (isTemporaryName(name)) continue;
  const content = await readFile(join(folder, name), "utf8");
  contents.set(name, content);
  const versions = content.split("\n").slice(0, -1);
  for (const version of versions) tell(/^\d+-file-\d+$/.test(version) ? `found ${version}` : `changed ${name}`);
}
tell("checked files");

// To compare: files that nobody flushes.
const write = synchronous === "OFF" ? writeFile : writeDurableFile;
for (let number = 1; cycle !== "0"; number += 1) {
  const version = `${cycle}-file-${number}`;
  const name = `file-${number % fileCount}`;
  const content = `${contents.get(name) ?? ""}${version}\n`;
  await write(join(folder, name), content);
  contents.set(name, content);
  tell(`stored ${version}`);
  await delay(Math.random() * mostPauseMilliseconds);
}
