/**
 * Power cuts while WordPress writes its SQLite database with native PHP: is every row there that WordPress was told is stored? The
 * site runs in a virtual machine, because only there what the system has not flushed to the disk can be lost.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedAssets } from "@sitewright/e2e/installation.ts";
import { twoPhps } from "@sitewright/runtimes/native/testing/twoPhps.ts";
import { type CycleResults, cutPowerAgainAndAgain } from "./powerCuts/cycles.ts";
import { makeImages } from "./powerCuts/images.ts";
import { guestPrograms, requirePrograms } from "./powerCuts/programs.ts";
import { prepareSite } from "./powerCuts/site.ts";
import type { Figure } from "./report.ts";

const cacheFolder = fileURLToPath(new URL("../.cache/powerCuts", import.meta.url));
const cuts = 20;
/** Fewer show that rows can be lost here. */
const cutsWithoutFlushes = 5;

/** Throws if programs are missing, with their names. `log` gets progress messages. */
export async function measurePowerCuts(log: (line: string) => void): Promise<Figure[]> {
  requirePrograms();
  const { kernel, busybox } = await guestPrograms(cacheFolder);
  const [, php] = await twoPhps();
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, "run-"));
  const sockets = await mkdtemp(join(tmpdir(), "power-"));
  try {
    log("a WordPress, and the file systems of a virtual machine …");
    const site = await prepareSite(php, folder, sharedAssets);
    const images = await makeImages({ php, site, busybox }, folder);
    const seed = Number(process.env.POWER_CUTS_SEED ?? Date.now() % 1_000_000);
    log(`seed ${seed} (repeat it with POWER_CUTS_SEED)`);
    const common = { kernel, rootImage: images.root, folder: sockets, seed, log };
    log(`${cuts} power cuts with the settings of sites …`);
    const kept = await cutPowerAgainAndAgain({
      ...common,
      cuts,
      synchronous: "product",
      disk: Buffer.from(images.disk),
    });
    log(`${cutsWithoutFlushes} power cuts with synchronous=OFF …`);
    const broken = { ...common, cuts: cutsWithoutFlushes, synchronous: "OFF", disk: Buffer.from(images.disk) };
    return figuresOf(kept, await cutPowerAgainAndAgain(broken));
  } finally {
    for (const each of [folder, sockets]) await rm(each, { recursive: true, force: true });
  }
}

function figuresOf(kept: CycleResults, broken: CycleResults): Figure[] {
  const brokenCount = broken.lostRows.length + broken.damage.length;
  return [
    {
      name: `rows lost in ${cuts} power cuts, of those that WordPress stored (${kept.settings})`,
      measured: `${kept.lostRows.length} of ${kept.acknowledgedRows}`,
      target: "0",
      isMet: kept.lostRows.length === 0 && kept.acknowledgedRows > 0,
      reference: `unflushed sectors lost: ${kept.lostSectors}`,
    },
    {
      name: "– damage to the database or the file system",
      measured: `${kept.damage.length}`,
      target: "0",
      isMet: kept.damage.length === 0,
    },
    {
      name: `the same in ${cutsWithoutFlushes} with synchronous=OFF, which shows that rows can be lost`,
      measured: `${broken.lostRows.length} of ${broken.acknowledgedRows} lost, ${broken.damage.length} errors`,
      target: "≥ 1",
      isMet: brokenCount > 0,
    },
  ];
}
