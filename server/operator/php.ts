/** `php list`, `php add` and `php remove`: the versions of PHP for the native runtime. */
import { isSuiteName } from "@sitewright/runtimes/native/versions/addedRoots.ts";
import { type Mirrors, machineMirrors } from "@sitewright/runtimes/native/versions/aptSources.ts";
import { addPhp, removePhp } from "@sitewright/runtimes/native/versions/changes.ts";
import { discoverPhp } from "@sitewright/runtimes/native/versions/discovery.ts";
import { UnusableRoot } from "@sitewright/runtimes/native/versions/installation.ts";
import { noPhpMessage, recommendedExtension } from "@sitewright/runtimes/native/versions/neededExtensions.ts";
import type { Arguments, Run } from "./command.ts";
import { exitFailed, Failure, usageError } from "./failure.ts";
import { plural, tableOf } from "./formatting.ts";

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
    throw new Failure(`--${name} ${given} is not an address. Write it as http://deb.debian.org/debian.`, usageError);
  }
  return { url: given.replace(/\/$/, ""), keyrings: [] };
}

export const remove: Run = ({ words: [what = ""] }, { config }) =>
  explained(async () => {
    const removed = await removePhp(config.phpRoots, what);
    const { offered } = await discoverPhp({ folder: config.phpRoots });
    const left = offered.map(({ fullVersion }) => fullVersion).join(", ");
    return `Removed ${removed.join(", ")}. ${left === "" ? noPhpMessage : `${plural(offered.length, "version")} left: ${left}.`}`;
  });

async function explained(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnusableRoot) throw new Failure(error.message, exitFailed, { cause: error });
    throw error;
  }
}
