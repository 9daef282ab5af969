/** Creates releases and environments on disk directly, without the runtime, for tests of the serving side. */
import { chmod, mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { copyFolders } from "../copy.ts";
import { giveTo } from "../folderOwner.ts";
import { ownerOf } from "../owner.ts";
import type { EnvironmentRef } from "../runtime.ts";
import type { ServedEnvironment } from "../serving.ts";
import { releaseFolder } from "../site/release.ts";
import type { Site } from "./visitor.ts";
import type { SiteWorld } from "./world.ts";

const parts = ["public", "database"] as const;

async function giveToOwner({ number }: EnvironmentRef, folder: string): Promise<void> {
  if (process.getuid?.() === 0) await giveTo(ownerOf(number), folder);
}

/** Returns the site's current release. */
export async function servedAs(
  world: Pick<SiteWorld, "runtime" | "environments">,
  site: Site,
): Promise<ServedEnvironment> {
  const layout = await world.runtime.layout(site.environment);
  if (layout === null) throw new Error("The environment has no layout.");
  return { ...site.environment, ...layout, phpVersion: site.phpVersion };
}

/**
 * Creates another release of the site, which shares the parts in `shares` with the first release and has copies of the
 * others.
 */
export async function addRelease(
  world: Pick<SiteWorld, "runtime" | "environments">,
  site: Site,
  release: number,
  shares: readonly (typeof parts)[number][] = [],
): Promise<ServedEnvironment> {
  const environment = path.join(world.environments, site.environment.id);
  const folder = releaseFolder(environment, release);
  await mkdir(folder);
  for (const part of parts) {
    if (shares.includes(part)) await symlink(path.join("..", "1", part), path.join(folder, part));
    else await copyFolders([path.join(releaseFolder(environment, 1), part)], folder);
  }
  await giveToOwner(site.environment, folder);
  return { ...(await servedAs(world, site)), release, documentRoot: await realpath(path.join(folder, "public")) };
}

/** Creates an environment without WordPress, with these files in its web root. */
export async function addPlain(
  world: Pick<SiteWorld, "environments" | "phpVersion">,
  ref: EnvironmentRef,
  files: Readonly<Record<string, string>>,
): Promise<ServedEnvironment> {
  const environment = path.join(world.environments, ref.id);
  const release = releaseFolder(environment, 1);
  for (const part of parts) await mkdir(path.join(release, part), { recursive: true });
  await mkdir(path.join(environment, "sessions"));
  const documentRoot = path.join(release, "public");
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(documentRoot, name), content);
  await chmod(environment, 0o700);
  await giveToOwner(ref, environment);
  return {
    ...ref,
    release: 1,
    documentRoot: await realpath(documentRoot),
    overlays: {},
    multisite: null,
    phpVersion: world.phpVersion,
  };
}
