/** Runs programs of a PHP in the sandbox, as an environment would, to find out what it is. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { ownerOf } from "../../owner.ts";
import { fileInRoot } from "../rootPath.ts";
import type { Sandbox } from "../sandbox.ts";
import { spawnSandboxed } from "../spawnSandboxed.ts";
import { type PhpRoot, UnusableRoot } from "./installation.ts";
import { mountOptionsOf } from "./mountOptions.ts";
import { isForOtherProcessor } from "./processorOf.ts";
import { type PhpVersion, parseVersion } from "./version.ts";

/** What `php-fpm` or `php` says about itself. */
export interface Probed {
  readonly version: PhpVersion;
  /** In lower case, sorted. */
  readonly extensions: readonly string[];
}

/** Why a program could not be asked, to follow "PHP in /opt/php is not offered: ", with what to do about it. */
export class ProbeFailure extends Error {
  override readonly name = "ProbeFailure";
}

interface Answer {
  readonly output: string;
  readonly errors: string;
  /** Null if a signal ended it. */
  readonly code: number | null;
}

/** The sandbox's exit code is this and the number of the signal that has ended its program. */
const crashed = 128;
/** The exit status of the shell that starts bubblewrap if there is none. */
const notFound = 127;
const noSandbox =
  "The native runtime runs PHP in a sandbox, for which a program is missing: apt-get install bubblewrap util-linux";
const timeoutMilliseconds = 30_000;
const maxOutput = 1 << 20;
const temporaryBytes = 16 << 20;

/** Throws if the program could not be started, failed, or took too long. */
export async function probeFpm(root: PhpRoot, fpm: string): Promise<Probed> {
  const [about, modules] = await Promise.all([ask(root, fpm, "-v"), ask(root, fpm, "-m")]);
  const version = parseVersion(/^PHP (\S+) \(fpm-fcgi\)/m.exec(about)?.[1] ?? "");
  if (version === null) throw new ProbeFailure(`${fpm} is not php-fpm. Install php-fpm there.`);
  return { version, extensions: extensionsIn(modules) };
}

/** Throws as `probeFpm` does. */
export async function probeCommandLine(root: PhpRoot, php: string): Promise<Probed> {
  const [about, modules] = await Promise.all([ask(root, php, "-v"), ask(root, php, "-m")]);
  const version = parseVersion(/^PHP (\S+) \(cli\)/m.exec(about)?.[1] ?? "");
  if (version === null) throw new ProbeFailure(`${php} is not PHP's command-line program.`);
  return { version, extensions: extensionsIn(modules) };
}

/** `Zend OPcache` is the only one with a space in its name. */
function extensionsIn(modules: string): readonly string[] {
  const names = modules.split("\n").map((line) =>
    line
      .trim()
      .toLowerCase()
      .replace(/^zend /, ""),
  );
  return [...new Set(names.filter((name) => /^\w+$/.test(name)))].toSorted();
}

/** php-fpm prints nothing else after an error that it displays. */
const withoutErrors = ["display_errors", "display_startup_errors"].flatMap((name) => ["-d", `${name}=0`]);

/** Returns the program's standard output. */
async function ask(root: PhpRoot, program: string, option: string): Promise<string> {
  const sandbox: Sandbox = {
    user: ownerOf(0),
    root: root.folder,
    mounts: [],
    memoryFolders: [{ path: "/tmp", maxBytes: temporaryBytes }],
    limits: null,
    isOffline: true,
  };
  const answer = await run(sandbox, [program, ...withoutErrors, option]);
  if (answer.code === 0) return answer.output;
  if (answer.code === notFound && answer.errors.includes("bwrap")) throw new UnusableRoot(noSandbox);
  throw new ProbeFailure(explain(root, program, answer));
}

async function run(sandbox: Sandbox, command: readonly string[]): Promise<Answer> {
  const child = spawnSandboxed(sandbox, command, ["ignore", "pipe"]);
  if (child.stdout === null) throw new Error("The process has no stream for its output.");
  const kill = () => child.kill("SIGKILL");
  const timer = setTimeout(kill, timeoutMilliseconds);
  const texts = [child.stdout, child.stderr].map((stream) => textOf(stream, kill));
  try {
    const [code] = await once(child, "close");
    const [output = "", errors = ""] = await Promise.all(texts);
    return { output, errors, code };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw new UnusableRoot(noSandbox);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `onTooMuch` for a stream with more than a program says about itself. */
async function textOf(stream: Readable, onTooMuch: () => void): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) {
    if (text.length > maxOutput) onTooMuch();
    else text += chunk;
  }
  return text;
}

function explain({ folder }: PhpRoot, program: string, { errors, code }: Answer): string {
  if (code === null) return `${program} did not end, or printed too much. Run it yourself to see why.`;
  if (/setpriv: (No such file|Exec format|error while loading)/.test(errors)) return explainSetpriv(folder, errors);
  if (/Permission denied/.test(errors)) return explainDenied(folder, program);
  if (code > crashed)
    return `${program} crashes with signal ${code - crashed}. A file of it or of an extension may be damaged: install its packages again.`;
  const [reason = "it printed nothing"] = errors.split("\n").filter((line) => line.trim() !== "");
  return `${program} does not start: ${reason.trim()}`;
}

/**
 * A program for another processor may be reported as missing, because bubblewrap then looks for a shell that could run it; and so is one
 * whose loader of libraries is missing.
 */
function explainSetpriv(folder: string, errors: string): string {
  const setpriv = fileInRoot(folder, "/usr/bin/setpriv");
  if (setpriv === null || !existsSync(setpriv)) return "it has no setpriv. Install util-linux there.";
  if (isForOtherProcessor(setpriv))
    return `its programs are for another kind of processor. Name a folder with a system for ${process.arch}.`;
  const reason = /error while loading.*/.exec(errors)?.[0] ?? "the program that loads its libraries is missing";
  return `its setpriv does not start: ${reason}. Install util-linux and the C library there, with what they need.`;
}

function explainDenied(folder: string, program: string): string {
  const file = fileInRoot(folder, program) ?? path.join(folder, program);
  if (mountOptionsOf(file).includes("noexec")) {
    return `its file system is mounted with noexec, so programs can't run there. Mount it without that option, or move the folder.`;
  }
  return `sites' users can't run ${program}. Let other users read it: chmod -R o+rX ${path.join(folder, "usr")}`;
}
