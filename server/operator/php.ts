/** `php list`, `php add` and `php remove`: the versions of PHP for the native runtime. */
import { isSuiteName } from "@sitewright/runtimes/native/versions/addedRoots.ts";
import { type Mirrors, machineMirrors } from "@sitewright/runtimes/native/versions/aptSources.ts";
import { addPhp, removePhp } from "@sitewright/runtimes/native/versions/changes.ts";
import { discoverPhp } from "@sitewright/runtimes/native/versions/discovery.ts";
import { UnusableRoot } from "@sitewright/runtimes/native/versions/installation.ts";
import { noPhpMessage, recommendedExtension } from "@sitewright/runtimes/native/versions/neededExtensions.ts";
import { readInstallation } from "@sitewright/supervisor/records.ts";
import type { Config } from "../settings/config.ts";
import { listNativeOnPhp } from "../store/sites/environments.ts";
import type { Arguments, Run } from "./command.ts";
import { withRunningDatabase } from "./database.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";
import { plural, tableOf } from "./formatting.ts";

/** How many environments a refusal names. */
const namedUsers = 20;

export const list: Run = ({ flags }, { config }) =>
  explained(async () => {
    const found = await discoverPhp({ folder: config.phpRoots });
    if (flags.json === true) return JSON.stringify(found);
    const { offered, refused } = found;
    const rows = offered.map(({ fullVersion, root, extensions }) => [
      fullVersion,
      root,
      extensions.includes(recommendedExtension) ? "" : `without ${recommendedExtension}, which is recommended`,
    ]);
    const table = offered.length === 0 ? noPhpMessage : tableOf([["PHP", "FOLDER", "REMARKS"], ...rows]);
    return [table, ...(refused.length === 0 ? [] : ["", ...refused])].join("\n");
  });

export const add: Run = ({ words: [place = ""], flags }, { config, terminal }) =>
  explained(async () => {
    const stop = new AbortController();
    const abort = () => stop.abort();
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, abort);
    const mirrors = mirrorsOf(flags);
    if (isSuiteName(place)) terminal.output.write(`Extracting PHP from ${place}. This can take minutes.\n`);
    const offered = await addPhp(config.phpRoots, place, { mirrors, signal: stop.signal });
    const versions = offered.map(({ fullVersion }) => `PHP ${fullVersion}`).join(", ");
    const discovered = await discoverPhp({ folder: config.phpRoots });
    const isChosen = offered.some(({ root }) => discovered.offered.some((one) => one.root === root));
    return isChosen
      ? `Added ${versions}. A running installation offers it after a restart.`
      : `Added ${versions}, which is not newer than what is offered. See: php list`;
  });

function mirrorsOf(flags: Arguments["flags"]): Mirrors {
  const { main, security } = machineMirrors();
  return { main: mirrorOf(flags, "mirror") ?? main, security: mirrorOf(flags, "security-mirror") ?? security };
}

function mirrorOf(flags: Arguments["flags"], name: string): Mirrors["main"] | null {
  const given = flags[name];
  if (typeof given !== "string") return null;
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || /\s/.test(given)) {
    throw new Failure(
      `--${name} ${given} is not an address. Write it as http://mirror.example.org/debian.`,
      usageError,
    );
  }
  return { url: given.replace(/\/$/, ""), keyrings: [] };
}

export const remove: Run = ({ words: [what = ""], flags }, { config }) =>
  explained(async () => {
    const removed = await removePhp(config.phpRoots, what, async (versions) => {
      if (flags.force !== true) await requireUnused(what, versions, config);
    });
    const { offered } = await discoverPhp({ folder: config.phpRoots });
    const left = offered.map(({ fullVersion }) => fullVersion).join(", ");
    return `Removed ${removed.join(", ")}. ${left === "" ? noPhpMessage : `${plural(offered.length, "version")} left: ${left}.`}`;
  });

/** Rejects with `Failure` if environments run on one of these versions, or if that can't be known. */
async function requireUnused(what: string, versions: readonly string[], config: Config): Promise<void> {
  // Without a record nothing has ever run here.
  const mayBeUsed = config.databaseUrl !== null || readInstallation(config.data) !== null;
  if (versions.length === 0 || !mayBeUsed) return;
  const users = await withRunningDatabase(config, (database) => listNativeOnPhp(database, versions)).catch((cause) => {
    if (!(cause instanceof Failure)) throw cause;
    const message = `${cause.message}\nOnly then is it known which environments run on ${what}. --force removes it anyway.`;
    throw new Failure(message, exitFailed, { cause });
  });
  if (users.length === 0) return;
  const names = users
    .slice(0, namedUsers)
    .map((one) => `  ${one.companyName}: ${one.siteName} / ${one.environmentName}`);
  const more = users.length - names.length;
  const message = [
    `${what} is not removed: ${plural(users.length, "environment")} would lose PHP ${versions.join(", ")}:`,
    ...names,
    ...(more > 0 ? [`  and ${more} more`] : []),
    "Change their PHP version first. Or repeat this with --force: their PHP then fails until you add this version again, and restart.",
  ];
  throw new Failure(message.join("\n"), exitFailed);
}

async function explained(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnusableRoot) throw new Failure(error.message, exitFailed, { cause: error });
    throw error;
  }
}
