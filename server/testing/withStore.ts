/** Worlds with another archive store. */
import { join } from "node:path";
import { removeTree } from "@sitewright/runtimes/folders.ts";
import { openArchives } from "../archives/archives.ts";
import type { Blobs } from "../archives/blobs.ts";
import { guardBlobs } from "../archives/guardedBlobs.ts";
import { fixedKeys } from "../keyFile.ts";
import { storeMemory } from "../store/backups/archiveStore.ts";
import { piecesFor } from "../store/backups/pieces.ts";
import type { World } from "./world.ts";

/** Returns the world with its archives in `blobs`. `key` has 32 bytes. */
export function withStore(world: World, blobs: Blobs, key: Buffer): World {
  const archives = openArchives({
    blobs,
    keys: fixedKeys(key),
    indexOf: (backup) => piecesFor(world.own.database, backup),
    work: join(world.facts.dataFolder, "work"),
    removeFolder: removeTree,
  });
  return { ...world, services: { ...world.services, archives } };
}

interface GuardedStore {
  readonly blobs: Blobs;
  readonly key: Buffer;
  readonly place: string;
  readonly isThere: () => Promise<boolean>;
}

/** Does the same with the control process's guard: the store is used only if it is the one that holds the backups. */
export function withGuardedStore(world: World, { blobs, key, place, isThere }: GuardedStore): World {
  const memory = storeMemory(world.own.database);
  return withStore(
    world,
    guardBlobs({ blobs, memory, keys: fixedKeys(key), place, isThere, onNewStore: () => undefined }),
    key,
  );
}
