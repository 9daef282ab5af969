/** Every operation through every crash. A new definition is one line in `subjects`. */
import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { backingUp, backingUpOnSchedule, removingBackup, restoringBackup } from "../../testing/backups.ts";
import { restoringDeletedEnvironment, restoringDeletedSite } from "../../testing/deleted.ts";
import { dnsSubjects } from "../../testing/dnsRecords.ts";
import { addingDomain, changingPrimaryDomain, deletingDomain } from "../../testing/domains.ts";
import { makingDownload } from "../../testing/downloads.ts";
import {
  addingEnvironment,
  addingPlainEnvironment,
  changingLimits,
  clearingCache,
  cloningEnvironment,
  comparing,
  deletingEnvironment,
  modifyingPhpVersion,
  pushing,
  restartingPhp,
  switchingCacheOff,
} from "../../testing/environments.ts";
import { updatingPlugin } from "../../testing/packageUpdates.ts";
import { provingBackup } from "../../testing/proofs.ts";
import { rebuildingEnvironment } from "../../testing/rebuilds.ts";
import { previewingReplacement, replacingTexts } from "../../testing/replacements.ts";
import { resettingSite } from "../../testing/resets.ts";
import { creatingPlainSite, creatingSite, deletingSite } from "../../testing/sites.ts";
import { updatingWordPress } from "../../testing/wordpressUpdates.ts";
import { makeWorld, type World } from "../../testing/world.ts";
import { runningWpCli } from "../../testing/wpCli.ts";
import { operationDefinitions } from "../definitions.ts";
import { failureCases, killCases, runFailures, runKills } from "./crashHarness.ts";

const subjects = {
  "creating a site": creatingSite,
  "creating a plain site": creatingPlainSite,
  "deleting a site": deletingSite,
  "resetting a site": resettingSite,
  "adding an environment": addingEnvironment,
  "adding a plain environment": addingPlainEnvironment,
  "cloning an environment": cloningEnvironment,
  "deleting an environment": deletingEnvironment,
  "pushing everything": pushing("all", "all"),
  "pushing some files": pushing(["index.php"], "all"),
  "comparing before a push": comparing,
  "changing the version of PHP": modifyingPhpVersion,
  "restarting PHP": restartingPhp,
  "clearing a cache": clearingCache("clearCache", null),
  "clearing a part of a cache": clearingCache("clearEdgeCache", "/news/"),
  "switching a cache off": switchingCacheOff,
  "changing an environment's PHP allocation": changingLimits("changeEnvironmentPhpAllocation"),
  "changing a site's PHP allocation": changingLimits("changeSitePhpAllocation"),
  "backing an environment up": backingUp,
  "backing an environment up on schedule": backingUpOnSchedule,
  "making a downloadable backup": makingDownload,
  "removing a backup": removingBackup,
  "restoring a backup": restoringBackup,
  "bringing a deleted site back": restoringDeletedSite,
  "bringing a deleted environment back": restoringDeletedEnvironment,
  "proving a backup": provingBackup,
  "rebuilding an environment": rebuildingEnvironment,
  "replacing a text": replacingTexts,
  "counting what would be replaced": previewingReplacement,
  "running a command of WP-CLI": runningWpCli,
  "updating a plugin": updatingPlugin,
  "updating WordPress": updatingWordPress,
  "adding a domain": addingDomain,
  "removing a domain": deletingDomain,
  "changing the primary domain": changingPrimaryDomain,
  ...dnsSubjects,
};

/** Some thirty processes are started and killed one after the other, on whatever machine. */
const patienceMilliseconds = 400_000;

/** Where processes are killed, two side by side. */
const worlds: World[] = [];
const children = new Map<World, ChildProcess>();
/** Where nobody but this process works. */
let quiet: World | null = null;
beforeAll(async () => {
  const [own, ...others] = await Promise.all([makeWorld(), makeWorld(), makeWorld()]);
  quiet = own;
  worlds.push(...others);
});
afterAll(async () => {
  for (const child of children.values()) child.kill("SIGKILL");
  await Promise.all([...worlds, ...(quiet === null ? [] : [quiet])].map((world) => world[Symbol.asyncDispose]()));
});

function quietWorld(): World {
  if (quiet === null) throw new Error("There is no world");
  return quiet;
}

describe.each(Object.entries(subjects))("%s is finished or never happened", (_, subject) => {
  const definition = () => operationDefinitions(quietWorld().services)[subject.kind];

  test("wherever it fails", async () => {
    expect(await runFailures(subject, quietWorld(), failureCases(definition()))).toEqual([]);
  });

  test(
    "wherever its process is killed on the way forward",
    async () => {
      expect(await runKills(subject, { worlds, children }, killCases(definition()).forward)).toEqual([]);
    },
    patienceMilliseconds,
  );

  test(
    "wherever its process is killed while it is undone",
    async () => {
      expect(await runKills(subject, { worlds, children }, killCases(definition()).back)).toEqual([]);
    },
    patienceMilliseconds,
  );
});
