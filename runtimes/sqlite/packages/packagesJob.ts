/**
 * Reads the plugins and themes of many environments. Main module of a process that does this once and ends, so that a
 * database that SQLite can't read in finite time affects nothing else.
 */

import { serveJob } from "../../job.ts";
import { noStates, type PackageStates, readPackageFiles, withStates } from "../../packageFiles.ts";
import { type InstalledPackages, RuntimeFailure } from "../../runtime.ts";
import { isBusy, isUnfinished } from "../copyDatabase.ts";
import { readPackageStates } from "./packageStates.ts";

export interface PackagesSource {
  /** Path without symbolic links. */
  readonly webRoot: string;
  /** Path of the database. */
  readonly file: string;
  /** Prefix of WordPress's tables. */
  readonly prefix: string;
}

export interface PackagesJob {
  readonly sources: readonly PackagesSource[];
}

/**
 * The result for one source, or null if its database is being written or has an unfinished write, and must be read
 * later.
 */
export type PackagesRead = InstalledPackages | null;

async function read(source: PackagesSource): Promise<PackagesRead> {
  const files = await readPackageFiles(source.webRoot);
  const withProblem = (states: PackageStates, problem: string | null) => ({
    packages: withStates(files, states),
    problem,
  });
  try {
    return withProblem(readPackageStates(source), null);
  } catch (error) {
    if (isBusy(error) || isUnfinished(error)) return null;
    if (error instanceof RuntimeFailure) return withProblem(noStates, error.message);
    return withProblem(noStates, `The site's database can't be read: ${String(error).slice(0, 200)}`);
  }
}

if (import.meta.main) {
  serveJob(async ({ sources }: PackagesJob) => {
    const found: PackagesRead[] = [];
    for (const source of sources) found.push(await read(source));
    return found;
  });
}
