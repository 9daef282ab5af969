/** From a template to an environment: copied beside, filled with its own values, then given its name. */
import { chmod, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { environmentFolders, removeTree } from "../../folders.ts";
import { type ProvisionSpec, RuntimeFailure, type WordPressInstall } from "../../runtime.ts";
import type { AssetStore } from "../assets/store.ts";
import { syncFolder } from "../assets/unpack.ts";
import { databaseFile, type Template, type TemplateStore } from "../templates/template.ts";
import { copyFolders, giveTo, isDiskFull } from "./copy.ts";
import { hashPassword } from "./passwordHash.ts";
import { ownerOf, type ReleaseRecord, readRelease, recordFile, releaseFolder } from "./release.ts";
import { rewriteDatabase } from "./rewrite.ts";
import { wpConfig } from "./wpConfig.ts";

export interface Places {
  readonly assets: AssetStore;
  readonly templates: TemplateStore;
  /** Folder that holds an environment's folder each. */
  readonly environments: string;
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

/** Everything but what is in the database. */
async function layOut(spec: ProvisionSpec, template: Template, beside: string): Promise<void> {
  const release = releaseFolder(beside, 1);
  await mkdir(release, { recursive: true });
  await Promise.all([chmod(beside, 0o700), mkdir(path.join(beside, "sessions"))]);
  await copyFolders([path.join(template.folder, "public"), path.join(template.folder, "database")], release);
  const config = path.join(release, "public", "wp-config.php");
  await rm(config);
  await writeFile(config, wpConfig(spec.wordpress), { mode: 0o600, flush: true });
  if (process.getuid?.() === 0) await giveTo(ownerOf(spec.environment.number), beside);
  await symlink(path.join("releases", "1"), path.join(beside, "current"));
}

async function build(spec: ProvisionSpec, beside: string, places: Places): Promise<ReleaseRecord> {
  const { wordpress } = spec;
  const template = await places.templates.get(wordpress);
  const files = await places.assets.files();
  const release = releaseFolder(beside, 1);
  const laidOut = layOut(spec, template, beside);
  const [passwordHash] = await Promise.all([hashPassword(wordpress.adminPasswordDigest), laidOut]).finally(() =>
    // Nobody may still be copying when the folder is removed again.
    laidOut.catch(() => undefined),
  );
  rewriteDatabase(path.join(release, "database", databaseFile), template.places, wordpress, passwordHash);
  const record: ReleaseRecord = {
    wordpressVersion: template.wordpressVersion,
    multisite: wordpress.multisite,
    core: path.relative(places.assets.folder, files.core),
  };
  await writeFile(recordFile(release), JSON.stringify(record), { mode: 0o600, flush: true });
  return record;
}

/** Idempotent: an environment that is there is left as it is. */
export async function provision(spec: ProvisionSpec, places: Places): Promise<{ readonly wordpressVersion: string }> {
  const { live, beside } = environmentFolders(places.environments, spec.environment);
  const found = await readRelease(live);
  if (found !== null) return { wordpressVersion: found.record.wordpressVersion };
  await check(spec.wordpress, places.assets);
  try {
    await mkdir(places.environments, { recursive: true });
    await removeTree(beside);
    const { wordpressVersion } = await build(spec, beside, places);
    await rename(beside, live);
    await syncFolder(places.environments);
    return { wordpressVersion };
  } catch (error) {
    await removeTree(beside);
    if (isDiskFull(error)) throw new RuntimeFailure("There is not enough room on the server's disk.", { cause: error });
    throw error;
  }
}
