/** The two versions of PHP that tests run: the machine's, and one that is extracted once from another release of Debian. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "../../assets/lock.ts";
import { machineMirrors } from "../versions/aptSources.ts";
import { addPhp } from "../versions/changes.ts";
import { discoverPhp, inspectRoots, machineRoot } from "../versions/discovery.ts";
import type { PhpInstallation } from "../versions/installation.ts";

/** As the data folder's, and kept between runs. */
export const sharedPhpRoots = fileURLToPath(new URL("../../../.cache/php", import.meta.url));

/** Rejects if the machine has no PHP that is offered, or if nothing can be extracted. The first call takes up to two minutes. */
export async function twoPhps(): Promise<readonly [machine: PhpInstallation, extracted: PhpInstallation]> {
  const { offered, refused } = await inspectRoots([machineRoot]);
  const [machine] = offered;
  if (machine === undefined) throw new Error(`This machine has no PHP for tests. ${refused.join(" ")}`);
  const suite = machine.version === "8.2" ? "trixie" : "bookworm";
  const extracted = await withLock(path.join(sharedPhpRoots, "tests.lock"), async () => {
    const found = await extractedPhp(machine);
    if (found !== undefined) return found;
    await addPhp(sharedPhpRoots, suite, { mirrors: machineMirrors(), signal: new AbortController().signal });
    return extractedPhp(machine);
  });
  if (extracted === undefined) throw new Error(`${suite} has the same version of PHP as this machine.`);
  return [machine, extracted];
}

async function extractedPhp({ version }: PhpInstallation): Promise<PhpInstallation | undefined> {
  const { offered } = await discoverPhp({ folder: sharedPhpRoots });
  return offered.find((one) => one.root !== machineRoot.folder && one.version !== version);
}
