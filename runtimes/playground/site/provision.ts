/** From a template to an environment: copied beside, filled with its own values, then given its name. */
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildAtomically, environmentFolders } from "../../folders.ts";
import { firstRelease, releaseFolder, writeRecord } from "../../releases.ts";
import { type EnvironmentRef, type ProvisionSpec, RuntimeFailure, type WordPressInstall } from "../../runtime.ts";
import type { AssetStore } from "../assets/store.ts";
import type { Template, TemplateStore } from "../templates/template.ts";
import { bothSettled } from "./bothSettled.ts";
import { copyTemplate } from "./copy/copyTemplate.ts";
import type { ReadyCopies } from "./copy/readyCopies.ts";
import { layOutPlain, plainFacts } from "./plain.ts";
import {
  giveToEnvironment,
  mainDatabase,
  type ReleaseFacts,
  recordOf,
  requireRelease,
  tellFullDisk,
} from "./release.ts";
import { rewriteDatabase } from "./rewrite.ts";
import { hashPassword, noPassword } from "./users/adminPassword.ts";
import { wpConfig } from "./wpConfig.ts";

export interface Places {
  readonly assets: AssetStore;
  readonly templates: TemplateStore;
  /** Folder that holds an environment's folder each. */
  readonly environments: string;
  readonly ready: ReadyCopies;
}

async function check(wordpress: WordPressInstall, assets: AssetStore): Promise<void> {
  if (!(await assets.files()).locales.includes(wordpress.locale)) {
    throw new RuntimeFailure(`WordPress is not available in the language ${wordpress.locale}.`);
  }
  const login = wordpress.adminUser;
  if (login.length > 60 || !/^[A-Za-z0-9_.@-]+(?: [A-Za-z0-9_.@-]+)*$/.test(login)) {
    throw new RuntimeFailure(
      "The administrator's name may have at most 60 letters a-z, digits, spaces and the signs . _ - @ only.",
    );
  }
}

/** Everything of a WordPress but its own values in its database. */
async function layOutFiles(
  wordpress: WordPressInstall,
  template: Template,
  release: string,
  ready: ReadyCopies,
): Promise<void> {
  if (!(await ready.take(template, release))) await copyTemplate(template, release);
  const config = path.join(release, "public", "wp-config.php");
  await rm(config);
  await writeFile(config, wpConfig(wordpress), { mode: 0o600, flush: true });
}

async function layOutWordPress(wordpress: WordPressInstall, release: string, places: Places): Promise<ReleaseFacts> {
  const template = await places.templates.get(wordpress);
  const files = await places.assets.files();
  const digest = wordpress.adminPasswordDigest;
  const [passwordHash] = await bothSettled(
    digest === null ? Promise.resolve(noPassword) : hashPassword(digest),
    layOutFiles(wordpress, template, release, places.ready),
  );
  const facts: ReleaseFacts = {
    wordpressVersion: template.wordpressVersion,
    multisite: wordpress.multisite,
    core: path.relative(places.assets.folder, files.core),
  };
  const database = path.join(release, "database", mainDatabase(facts));
  rewriteDatabase(database, template.places, wordpress, passwordHash);
  return facts;
}

/** An environment with a first release, whole or not at all. One that is there already is left as it is. */
export async function makeEnvironment(
  environment: EnvironmentRef,
  environments: string,
  fill: (release: string) => Promise<ReleaseFacts>,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { live, building } = environmentFolders(environments, environment);
  await mkdir(environments, { recursive: true });
  const build = async (place: string) => {
    const release = releaseFolder(place, 1);
    await mkdir(release, { recursive: true });
    await Promise.all([chmod(place, 0o700), mkdir(path.join(place, "sessions"))]);
    const record = { ...(await fill(release)), ...firstRelease };
    await giveToEnvironment(environment, place);
    await writeRecord(release, record);
    await symlink(path.join("releases", "1"), path.join(place, "current"));
  };
  await tellFullDisk(() => buildAtomically(live, building, build));
  const { wordpressVersion } = recordOf(await requireRelease(live));
  return { wordpressVersion };
}

/** Idempotent: an environment that is there is left as it is. */
export async function provision(
  spec: ProvisionSpec,
  places: Places,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { wordpress } = spec;
  return makeEnvironment(spec.environment, places.environments, async (release) => {
    if (wordpress === null) {
      await layOutPlain(release);
      return plainFacts;
    }
    await check(wordpress, places.assets);
    return layOutWordPress(wordpress, release, places);
  });
}
