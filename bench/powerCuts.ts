/**
 * Power cuts while WordPress writes its SQLite database with native PHP: is every row there that WordPress was told is stored? The
 * site runs in a virtual machine, because only there can unflushed data be lost.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sharedAssets } from "@sitewright/e2e/installation.ts";
import { twoPhps } from "@sitewright/runtimes/native/testing/twoPhps.ts";
import { type CyclesResult, cutPowerAgainAndAgain, type Kept } from "./powerCuts/cycles.ts";
import { makeImages } from "./powerCuts/images.ts";
import { guestPrograms, missingPrograms } from "./powerCuts/programs.ts";
import { prepareSite } from "./powerCuts/site.ts";
import type { Figure } from "./report.ts";

const cacheFolder = fileURLToPath(new URL("../.cache/powerCuts", import.meta.url));
const cuts = 20;
/** Settings with which rows are lost, to show that this measurement notices it. Few cuts are enough. */
const unsafe = ["FULL", "OFF"];
const unsafeCuts = 5;

/** If programs are missing, the only figure says which. `log` gets progress messages. */
export async function measurePowerCuts(log: (line: string) => void): Promise<Figure[]> {
  const missing = missingPrograms();
  if (missing !== null) return [{ name: "power cuts", measured: missing, target: "0 rows lost", isMet: false }];
  const programs = await guestPrograms(cacheFolder);
  const [, php] = await twoPhps();
  await mkdir(cacheFolder, { recursive: true });
  const folder = await mkdtemp(join(cacheFolder, "run-"));
  const sockets = await mkdtemp(join(tmpdir(), "power-"));
  try {
    log("a WordPress, and the file systems of a virtual machine …");
    const site = await prepareSite(php, folder, sharedAssets);
    const images = await makeImages({ php, site, programs }, folder);
    const seed = Number(process.env.POWER_CUTS_SEED ?? Date.now() % 1_000_000);
    log(`seed ${seed} (repeat it with POWER_CUTS_SEED)`);
    const common = { kernel: programs.kernel, rootImage: images.root, disk: images.disk, folder: sockets, seed, log };
    log(`${cuts} power cuts with the settings of sites …`);
    const figures = [...keptFigures(await cutPowerAgainAndAgain({ ...common, cuts, synchronous: "product" }))];
    for (const synchronous of unsafe) {
      log(`${unsafeCuts} power cuts with synchronous=${synchronous} …`);
      figures.push(lossFigure(await cutPowerAgainAndAgain({ ...common, cuts: unsafeCuts, synchronous })));
    }
    return figures;
  } finally {
    for (const each of [folder, sockets]) await rm(each, { recursive: true, force: true });
  }
}

const lostOf = ({ lost, stored }: Kept): string => `${lost} of ${stored}`;

function keptFigures({ rows, files, damage, lostSectors, settings }: CyclesResult): readonly Figure[] {
  const figure = (name: string, kept: Kept): Figure => ({
    name: `${name} that ${cuts} power cuts lost`,
    measured: lostOf(kept),
    target: "0",
    isMet: kept.lost === 0 && kept.stored >= cuts,
  });
  return [
    {
      ...figure(`rows stored by WordPress, with ${settings},`, rows),
      reference: `${lostSectors} unflushed sectors lost`,
    },
    figure("files stored by Sitewright", files),
    {
      name: "– damaged rows, files, databases and file systems",
      measured: String(damage.length),
      target: "0",
      isMet: damage.length === 0,
    },
  ];
}

/** Met if something was lost. */
function lossFigure({ rows, files, damage, settings }: CyclesResult): Figure {
  return {
    name: `– lost in ${unsafeCuts} with ${settings}`,
    measured: `${lostOf(rows)} rows, ${lostOf(files)} files; ${damage.length} times damaged`,
    target: "≥ 1",
    isMet: rows.lost + damage.length > 0,
  };
}
