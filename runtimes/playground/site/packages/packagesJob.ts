/**
 * Reads which plugins and themes WordPresses have, many in one go: the main module of a process that does this once and ends.
 * A database on which SQLite never comes to an end then stops nobody else.
 */
import { noStates, type PackageStates, readPackageFiles, withStates } from "../../../packageFiles.ts";
import { type InstalledPackages, RuntimeFailure } from "../../../runtime.ts";
import { serveJob } from "../../templates/job.ts";
import { isBusy, isUnfinished } from "../copy/copyDatabase.ts";
import { readPackageStates } from "./packageStates.ts";

export interface PackagesSource {
  /** Path without symbolic links. */
  readonly webRoot: string;
  /** Of the database. */
  readonly file: string;
  /** Of WordPress's tables. */
  readonly prefix: string;
}

export interface PackagesJob {
  readonly sources: readonly PackagesSource[];
}

/** The outcome for one source, or null if it is being written or has an unfinished write, and must be read later. */
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
