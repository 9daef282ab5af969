/** The native runtime: php-fpm of this machine, and databases in SQLite. `serving.ts` serves its environments. */
import { createAssetStore } from "../assets/store.ts";
import type { Runtime } from "../runtime.ts";
import type { AcceptMail } from "../serving.ts";
import { createSiteRuntime, type SiteRuntimeOptions } from "../site/siteRuntime.ts";
import type { TemplateStore } from "../site/template.ts";
import { sqliteDatabase } from "../sqlite/sqliteDatabase.ts";
import type { SandboxOptions } from "./environmentSandbox.ts";
import { createNativeWpCli, type NativeWpCliOptions } from "./wpCli.ts";

export interface NativeRuntimeOptions
  extends Omit<SiteRuntimeOptions, "assets">,
    SandboxOptions,
    Pick<NativeWpCliOptions, "wpCliLimits"> {
  readonly templates: TemplateStore;
  /** The versions that `phpOf` knows, in ascending order. */
  readonly phpVersions: readonly string[];
  readonly defaultPhpVersion: string;
  /** Takes e-mail from WP-CLI commands. Absent: nothing is sent. */
  readonly acceptMail?: AcceptMail | undefined;
}

export function createNativeRuntime(options: NativeRuntimeOptions): Runtime {
  const store = createAssetStore({ folder: options.assets });
  const { acceptMail = async () => "nothing can be sent from here" } = options;
  const engine = {
    name: "native",
    phpVersions: options.phpVersions,
    defaultPhpVersion: options.defaultPhpVersion,
    templates: options.templates,
    runWpCli: createNativeWpCli({ ...options, store, acceptMail }),
  };
  return createSiteRuntime({ ...options, assets: store }, engine, sqliteDatabase);
}
