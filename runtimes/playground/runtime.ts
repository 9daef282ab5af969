/** The playground runtime: PHP compiled to WebAssembly, and databases in SQLite. `serving.ts` serves its environments. */
import { createAssetStore } from "../assets/store.ts";
import type { Runtime } from "../runtime.ts";
import type { AcceptMail, UploadLimits } from "../serving.ts";
import { createSiteRuntime, type SiteRuntimeOptions } from "../site/siteRuntime.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import { phpVersions } from "./php/versions.ts";
import { createCompiledStore } from "./templates/compiled.ts";
import { createTemplateStore, templatePhpVersion } from "./templates/template.ts";
import { createWpCli, type WpCliNetwork, type WpCliOptions } from "./wpcli/wpCli.ts";

export interface PlaygroundRuntimeOptions extends Omit<SiteRuntimeOptions, "assets"> {
  /** Folder of files that all environments share: WordPress, its languages, templates. */
  readonly assets: string;
  /** Network access of WP-CLI commands. Absent: none. */
  readonly network?: WpCliNetwork;
  /** Takes e-mail from WP-CLI commands. Absent: nothing is sent. */
  readonly acceptMail?: AcceptMail;
  /** Absent: PHP's own defaults. */
  readonly uploads?: UploadLimits;
  /** Limits of WP-CLI commands. Absent: the defaults. */
  readonly wpCliLimits?: WpCliOptions["limits"];
}

export function createPlaygroundRuntime(options: PlaygroundRuntimeOptions): Runtime {
  const assets = createAssetStore({ folder: options.assets });
  const templates = createTemplateStore(assets);
  const wpCli = createWpCli({
    assets,
    compiled: createCompiledStore(assets, templates),
    environments: options.environments,
    diskReserveBytes: options.diskReserveBytes ?? 0,
    network: options.network ?? null,
    acceptMail: options.acceptMail ?? (async () => "nothing can be sent from here"),
    uploads: options.uploads,
    ...(options.wpCliLimits && { limits: options.wpCliLimits }),
  });
  const engine = {
    name: "playground",
    phpVersions,
    defaultPhpVersion: templatePhpVersion,
    templates,
    runWpCli: wpCli.run,
  };
  return createSiteRuntime({ ...options, assets }, engine, sqliteDatabase);
}
