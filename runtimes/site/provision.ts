/**
 * Creates an environment from a template: copies it to a temporary folder, fills in the environment's values, then
 * renames it.
 */
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AssetStore } from "../assets/store.ts";
import { temporaryFolders } from "../fileTree.ts";
import { buildAtomically, environmentFolders } from "../folders.ts";
import { firstRelease, releaseFolder, requireRelease, writeRecord } from "../releases.ts";
import { type EnvironmentRef, type ProvisionSpec, RuntimeFailure, type WordPressInstall } from "../runtime.ts";
import { bothSettled } from "./bothSettled.ts";
import type { SiteContext } from "./context.ts";
import { copyTemplate } from "./copy/copyTemplate.ts";
import type { PreparedCopies } from "./copy/preparedCopies.ts";
import { layOutPlain, plainFacts } from "./plain.ts";
import { giveToEnvironment, type ReleaseFacts, recordOf, reportFullDisk } from "./release.ts";
import type { Template, TemplateStore } from "./template.ts";
import { hashPassword, noPassword } from "./values/passwordHash.ts";
import { wpConfig } from "./wpConfig.ts";

/** What making new sites needs. */
export interface ProvisionContext extends Omit<SiteContext, "assets"> {
  readonly assets: AssetStore;
  readonly templates: TemplateStore;
  readonly ready: PreparedCopies;
}

async function check(wordpress: WordPressInstall, assets: AssetStore): Promise<void> {
  if (!(await assets.files()).locales.includes(wordpress.locale)) {
    throw new RuntimeFailure(`WordPress is not available in the language ${wordpress.locale}.`);
  }
  const login = wordpress.adminUser;
  if (login.length > 60 || !/^[A-Za-z0-9_.@-]+(?: [A-Za-z0-9_.@-]+)*$/.test(login)) {
    throw new RuntimeFailure(
      "The administrator's name may have at most 60 characters: letters a-z, digits, spaces and . _ - @.",
    );
  }
}

/** Copies the template and writes the configuration; only the database still has placeholders. */
async function layOutFiles(
  wordpress: WordPressInstall,
  template: Template,
  release: string,
  { ready, database }: ProvisionContext,
): Promise<void> {
  if (!(await ready.take(template, release))) await copyTemplate(template, release);
  const config = path.join(release, "public", "wp-config.php");
  await rm(config);
  await writeFile(config, wpConfig(wordpress, database.constants), { mode: 0o600, flush: true });
}

async function layOutWordPress(
  wordpress: WordPressInstall,
  release: string,
  context: ProvisionContext,
): Promise<ReleaseFacts> {
  const template = await context.templates.get(wordpress);
  const files = await context.assets.files();
  const digest = wordpress.adminPasswordDigest;
  const [passwordHash] = await bothSettled(
    digest === null ? Promise.resolve(noPassword) : hashPassword(digest),
    layOutFiles(wordpress, template, release, context),
  );
  const facts: ReleaseFacts = {
    wordpressVersion: template.wordpressVersion,
    multisite: wordpress.multisite,
    core: path.relative(context.assets.folder, files.core),
  };
  context.database.fillTemplate(path.join(release, "database"), template, wordpress, passwordHash);
  return facts;
}

/** Creates an environment with a first release, atomically. Does nothing if it exists. */
export async function makeEnvironment(
  environment: EnvironmentRef,
  environments: string,
  fill: (release: string) => Promise<ReleaseFacts>,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { live, building } = environmentFolders(environments, environment);
  await mkdir(environments, { recursive: true });
  const build = async (folder: string) => {
    const release = releaseFolder(folder, 1);
    await mkdir(release, { recursive: true });
    const temporary = Object.values(temporaryFolders).map((name) => mkdir(path.join(folder, name)));
    await Promise.all([chmod(folder, 0o700), ...temporary]);
    const record = { ...(await fill(release)), ...firstRelease };
    await giveToEnvironment(environment, folder);
    await writeRecord(release, record);
    await symlink(path.join("releases", "1"), path.join(folder, "current"));
  };
  await reportFullDisk(() => buildAtomically(live, building, build));
  const { wordpressVersion } = recordOf(await requireRelease(live));
  return { wordpressVersion };
}

/** Implements `Runtime.provision`. */
export async function provision(
  spec: ProvisionSpec,
  context: ProvisionContext,
): Promise<{ readonly wordpressVersion: string | null }> {
  const { wordpress } = spec;
  return makeEnvironment(spec.environment, context.environments, async (release) => {
    if (wordpress === null) {
      await layOutPlain(release, context.database);
      return plainFacts;
    }
    await check(wordpress, context.assets);
    return layOutWordPress(wordpress, release, context);
  });
}
