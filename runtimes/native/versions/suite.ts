/**
 * Extracts PHP from a release of Debian into a folder, with mmdebstrap: it verifies signatures, downloads only PHP and what that
 * needs, and runs no program of the release.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import type { Mirror, Mirrors } from "./aptSources.ts";
import { UnusableRoot } from "./installation.ts";
import { debianPackages } from "./neededExtensions.ts";

const run = promisify(execFile);

export interface ExtractOptions {
  /** Such as `trixie`. */
  readonly suite: string;
  readonly mirrors: Mirrors;
  /** Empty. */
  readonly folder: string;
  /** Stops mmdebstrap. Rejects when it has ended. */
  readonly signal: AbortSignal;
  /** Path of mmdebstrap. */
  readonly program?: string | undefined;
}

/** PHP's `mail()` needs a shell; the sandbox needs setpriv, of util-linux. */
const packages = [...debianPackages, "dash", "util-linux", "ca-certificates"];

const debianKeyrings = ["gpg", "pgp"].map((extension) => `/usr/share/keyrings/debian-archive-keyring.${extension}`);

/** Whatever the machine's settings say. */
const alwaysVerified = [
  'APT::Get::AllowUnauthenticated "false"',
  'Acquire::AllowInsecureRepositories "false"',
  'Acquire::AllowDowngradeToInsecureRepositories "false"',
];

/** Older releases have programs and libraries outside of `/usr`, and rely on these links. */
const mergeUsr = ["bin", "sbin", "lib", "lib64"]
  .map((name) => `mkdir -p "$1/usr/${name}" && ln -s "usr/${name}" "$1/${name}"`)
  .join(" && ");

/** These have no updates of their own. */
const unstable = ["sid", "unstable"];

const reportedLines = 3;

/** Rejects with `UnusableRoot` if mmdebstrap is missing, or if it fails. */
export async function extractSuite(options: ExtractOptions): Promise<void> {
  const { suite, mirrors, folder, signal, program = "mmdebstrap" } = options;
  const keyrings = debianKeyrings.filter((file) => existsSync(file));
  const lines = sourceLines(suite, mirrors, keyrings.slice(0, 1));
  const apt = [...alwaysVerified, ...(await ownSettings())].map((option) => `--aptopt=${option}`);
  // Without root, only this mode gives the files to this user. With root, mmdebstrap refuses it.
  const mode = process.getuid?.() === 0 ? "root" : "chrootless";
  const how = ["--variant=extract", `--mode=${mode}`, "--format=directory", `--setup-hook=${mergeUsr}`];
  const child = spawn(program, [...how, `--include=${packages.join(",")}`, ...apt, suite, folder, ...lines], {
    stdio: ["ignore", "ignore", "pipe"],
    // A group of its own, because mmdebstrap would wait for its apt, and that for the mirror.
    detached: true,
  });
  const stop = () => {
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (child.pid !== undefined && isRunning) process.kill(-child.pid, "SIGTERM");
  };
  signal.addEventListener("abort", stop);
  const errors = text(child.stderr);
  const [code] = await once(child, "close")
    .catch((error: unknown) => {
      throw explainStart(error);
    })
    .finally(() => signal.removeEventListener("abort", stop));
  if (signal.aborted) throw new UnusableRoot("Stopped. Nothing was added.");
  if (code !== 0) throw new UnusableRoot(explainFailure(suite, mirrors, await errors));
}

function sourceLines(suite: string, { main, security }: Mirrors, keyrings: readonly string[]): readonly string[] {
  const line = ({ url, keyrings: own }: Mirror, name: string) => {
    const all = [...new Set([...keyrings, ...own])];
    if (all.length === 0)
      throw new UnusableRoot(
        "Debian's signatures can't be verified without its keys. Install them: apt-get install debian-archive-keyring",
      );
    return `deb [signed-by=${all.join(",")}] ${url} ${name} main`;
  };
  if (unstable.includes(suite)) return [line(main, suite)];
  return [line(main, suite), line(main, `${suite}-updates`), line(security, `${suite}-security`)];
}

/**
 * Settings of the machine's apt that its mirrors may need; mmdebstrap's does not read them. A machine with a mirror of its own may
 * accept that it is not always up to date.
 */
async function ownSettings(): Promise<readonly string[]> {
  const names = ["Acquire::http::Proxy", "Acquire::https::Proxy", "Acquire::Check-Valid-Until"];
  const { stdout } = await run("apt-config", ["dump", "--format", '%F "%v"%n', ...names]).catch(() => ({ stdout: "" }));
  return stdout.split("\n").filter((line) => line !== "" && !line.endsWith('""'));
}

function explainStart(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) return error;
  return new UnusableRoot("Extracting a release of Debian needs mmdebstrap. Install it: apt-get install mmdebstrap");
}

function explainFailure(suite: string, { main }: Mirrors, errors: string): string {
  // mmdebstrap also prints the whole command that failed.
  const lines = errors.split("\n").filter((line) => line.startsWith("E: ") && !line.includes(" -o"));
  const isMissing = lines.some(
    (line) => line.includes(` ${suite} Release`) && line.includes("does not have a Release"),
  );
  if (isMissing) return `${main.url} has no release ${suite}. Check the name, or name another mirror with --mirror.`;
  if (lines.some((line) => line.includes("No space left")))
    return "The disk is full: a release needs 400 MB while it is extracted. Free some space, then try again.";
  const reasons = lines.slice(0, reportedLines).map((line) => line.slice("E: ".length));
  return `${suite} could not be extracted from ${main.url}: ${reasons.join(" ") || errors.trim().slice(-500)}`;
}
