/** Folders with a system that has a shell and programs which say that they are PHP, for tests. */
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import type { PhpRoot } from "../versions/installation.ts";

const run = promisify(execFile);

/** What WordPress needs, as PHP writes it. */
export const neededModules = [
  ...["Core", "PDO", "pdo_sqlite", "sqlite3", "mysqli", "curl", "dom", "mbstring", "xml", "zip", "exif", "fileinfo"],
  ...["openssl", "Zend OPcache", "gd", "intl"],
];

interface FakePhp {
  /** Path of the program; by default Debian's. */
  readonly file?: string;
  readonly modules?: readonly string[];
}

export interface HandMadeRoot extends PhpRoot {
  /** Adds a php-fpm and a command-line program of this version, such as `8.3.7`. */
  php(version: string, modules?: readonly string[]): Promise<void>;
  /** Adds a php-fpm alone. */
  fpm(version: string, changes?: FakePhp): Promise<void>;
  /** Adds a command-line program. */
  cli(version: string, changes?: FakePhp): Promise<void>;
  /** Adds a program, which is a script of the shell. */
  program(file: string, script: string): Promise<void>;
  /** Adds a symbolic link. */
  link(file: string, target: string): Promise<void>;
}

const shell = "/usr/bin/dash";
const setpriv = "/usr/bin/setpriv";

const minorOf = (version: string): string => version.split(".").slice(0, 2).join(".");

async function librariesOf(program: string): Promise<readonly string[]> {
  const { stdout } = await run("ldd", [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, file = ""]) => file);
}

/** `makeRoot` removes it after the test. */
export async function makeRoot(): Promise<HandMadeRoot> {
  const folder = await mkdtemp(path.join(tmpdir(), "php-root-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const place = async (file: string) => {
    const target = path.join(folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    return target;
  };
  const copy = async (from: string, to: string) => copyFile(from, await place(to));
  const program = async (file: string, script: string) => {
    const target = await place(file);
    await writeFile(target, `#!/bin/sh\n${script}\n`);
    await chmod(target, 0o755);
  };
  const add = async (file: string, kind: string, version: string, modules: readonly string[]) => {
    const lists = `for last; do :; done; case $last in -v) echo 'PHP ${version} (${kind}) (built: today)' ;; -m) echo '${modules.join("\n")}' ;; esac`;
    await program(file, lists);
  };
  await copy(shell, "/usr/bin/sh");
  await copy(setpriv, "/usr/bin/setpriv");
  const libraries = [...(await librariesOf(shell)), ...(await librariesOf(setpriv))];
  for (const file of new Set(libraries)) await copy(file, path.join("/usr", file.replace(/^\/usr/, "")));
  const fpm: HandMadeRoot["fpm"] = (
    version,
    { file = `/usr/sbin/php-fpm${minorOf(version)}`, modules = neededModules } = {},
  ) => add(file, "fpm-fcgi", version, modules);
  const cli: HandMadeRoot["cli"] = (
    version,
    { file = `/usr/bin/php${minorOf(version)}`, modules = neededModules } = {},
  ) => add(file, "cli", version, modules);
  return {
    folder,
    place: `in ${folder}`,
    php: async (version, modules = neededModules) => {
      await fpm(version, { modules });
      await cli(version, { modules });
    },
    fpm,
    cli,
    program,
    link: async (file, target) => symlink(target, await place(file)),
  };
}
