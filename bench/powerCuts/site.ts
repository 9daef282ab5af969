/** A site as native PHP gets it, for a virtual machine. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createAssetStore } from "@sitewright/runtimes/assets/store.ts";
import { environmentMounts } from "@sitewright/runtimes/native/environmentMounts.ts";
import { createNativeRuntime } from "@sitewright/runtimes/native/runtime.ts";
import type { Mount } from "@sitewright/runtimes/native/sandbox.ts";
import type { PhpInstallation } from "@sitewright/runtimes/native/versions/installation.ts";
import { ownerOf } from "@sitewright/runtimes/owner.ts";
import { passwordDigest } from "@sitewright/runtimes/password.ts";
import { createTemplateStore } from "@sitewright/runtimes/playground/templates/template.ts";

export interface PreparedSite {
  /** The user that runs its PHP. */
  readonly user: number;
  /** The files that PHP sees, folders before their content. */
  readonly mounts: readonly Mount[];
}

/** Creates a site in a folder. `assets`: the asset store, which is filled. */
export async function prepareSite(php: PhpInstallation, folder: string, assets: string): Promise<PreparedSite> {
  const environments = join(folder, "environments");
  const runtime = createNativeRuntime({
    assets,
    environments,
    run: join(folder, "run"),
    layers: join(folder, "layers"),
    network: null,
    packageSource: null,
    phpOf: () => php,
    phpVersions: [php.version],
    defaultPhpVersion: php.version,
    templates: createTemplateStore(createAssetStore({ folder: assets })),
  });
  await runtime.prepare(() => undefined);
  const environment = { id: randomUUID(), number: 1 };
  const wordpress = {
    address: "http://powercuts.localhost",
    title: "Power cuts",
    adminUser: "admin",
    adminEmail: "admin@example.com",
    adminPasswordDigest: passwordDigest(randomUUID()),
    locale: "en_US",
    multisite: null,
  };
  await runtime.provision({ environment, phpVersion: php.version, wordpress });
  const layout = await runtime.layout(environment);
  if (layout === null) throw new Error("The site for power cuts was not created.");
  const mounts = environmentMounts({ ...environment, ...layout }, { assets, environments });
  // Without root, everything belongs to this process's user.
  const own = process.getuid?.() ?? 0;
  return { user: own === 0 ? ownerOf(environment.number) : own, mounts };
}
