/** Installs the programs that tests run: Debian packages as root, and without root a folder of the clone. */
import { execFileSync } from "node:child_process";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { withLock } from "@sitewright/runtimes/assets/lock.ts";
import { missingFrom, packagesOf, type Requirement } from "./programs.ts";
import { testEnvironment, unpackedFolder } from "./testEnvironment.ts";
import { unpackPrograms } from "./unpackPrograms.ts";

/** Does nothing where nothing is missing. Rejects with one message that names every missing package. */
export async function installPrograms(): Promise<void> {
  if (missingNow().length === 0) return;
  const lock = join(tmpdir(), `sitewright-programs-${userInfo().uid}.lock`);
  await withLock(
    lock,
    async () => install(),
    () => say("Another run is installing programs: waiting for it …"),
  );
}

const missingNow = () => missingFrom(testEnvironment());

function install(): void {
  const missing = missingNow();
  if (missing.length === 0) return;
  say(`Installing what the tests run: ${packagesOf(missing).join(" ")} …`);
  try {
    if (process.getuid?.() === 0) installAsRoot(missing);
    else unpackPrograms(missingFrom(process.env), unpackedFolder(missingFrom(process.env)));
  } catch (error) {
    throw new Error(complaint(missing, error instanceof Error ? error.message : String(error)), { cause: error });
  }
  const still = missingNow();
  if (still.length > 0) throw new Error(complaint(still, "They were installed and are still not found."));
}

function installAsRoot(missing: readonly Requirement[]): void {
  // Another program may be installing something.
  aptGet("update");
  aptGet("install", "--yes", "--no-install-recommends", ...packagesOf(missing));
}

function aptGet(...parameters: readonly string[]): void {
  execFileSync("apt-get", ["--quiet=2", "-o", "DPkg::Lock::Timeout=600", ...parameters], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", process.stderr, process.stderr],
  });
}

function complaint(missing: readonly Requirement[], reason: string): string {
  return `The tests run programs that are missing here: ${missing.map(({ name }) => name).join(", ")}.
They could not be installed: ${reason}
Install them, then try again. On Debian: apt-get install --no-install-recommends ${packagesOf(missing).join(" ")}`;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
