/** Finds the programs of PHP in a folder with a system. */
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileInRoot, pathInRoot } from "../rootPath.ts";
import type { PhpRoot } from "./installation.ts";

/** A php-fpm. Paths are those in the sandbox, without symbolic links. */
export interface FpmProgram {
  readonly fpm: string;
  /** Folders and names of command-line programs that may belong to it. */
  readonly folder: string;
  /** The end of its name: `8.3` for `php-fpm8.3`. */
  readonly suffix: string;
}

export interface FoundPrograms {
  readonly programs: readonly FpmProgram[];
  /** Sentences about links that lead to nothing that PHP sees. */
  readonly problems: readonly string[];
}

/** What the sandbox shows of a root's programs. */
const visible = ["/usr/", "/opt/remi/"];
const programName = /^php-fpm([\d.]*)$/;

function namesIn(root: string, folder: string): readonly string[] {
  const found = fileInRoot(root, folder);
  if (found === null) return [];
  try {
    return readdirSync(found).toSorted();
  } catch {
    // It is a file, or closed to this process.
    return [];
  }
}

/** Debian and sury, Remi, and PHP that somebody has built. */
function programFolders(root: string): readonly string[] {
  const remi = namesIn(root, "/opt/remi").filter((name) => /^php\d+$/.test(name));
  return ["/usr/sbin", ...remi.map((name) => `/opt/remi/${name}/root/usr/sbin`), "/usr/local/sbin"];
}

/** Returns null if the link leads to nothing, or to what the sandbox does not show. */
function visibleFile(root: string, file: string): string | null {
  const found = pathInRoot(root, file);
  return found !== null && visible.some((folder) => found.startsWith(folder)) ? found : null;
}

/** Finds each php-fpm once, even if several names lead to it. */
export function findPrograms({ folder: root, place }: PhpRoot): FoundPrograms {
  const programs = new Map<string, FpmProgram>();
  const problems: string[] = [];
  for (const folder of programFolders(root)) {
    for (const name of namesIn(root, folder)) {
      if (!programName.test(name)) continue;
      const fpm = visibleFile(root, path.join(folder, name));
      if (fpm === null) {
        const link = path.join(folder, name);
        problems.push(
          `PHP ${place} is not offered: ${link} is a symbolic link that leads out of /usr. Put the program itself there.`,
        );
        continue;
      }
      const [, suffix = ""] = programName.exec(path.basename(fpm)) ?? [];
      if (!programs.has(fpm)) programs.set(fpm, { fpm, folder: path.join(path.dirname(folder), "bin"), suffix });
    }
  }
  return { programs: [...programs.values()], problems };
}

/** The command-line programs that may belong to a php-fpm of this version, the likeliest first. */
export function commandLinePrograms(root: string, { folder, suffix }: FpmProgram, version: string): readonly string[] {
  const names = [`php${version}`, `php${suffix}`, "php"];
  const found = names.map((name) => visibleFile(root, path.join(folder, name)));
  return [...new Set(found.filter((file) => file !== null))];
}
