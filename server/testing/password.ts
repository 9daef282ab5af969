/** Checks that a WordPress that an operation installed has its administrator's password. Works with both runtimes. */
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readSpec } from "@sitewright/runtimes/fake/runtime.ts";
import type { EnvironmentRef } from "@sitewright/runtimes/runtime.ts";
import type { World } from "./world.ts";

function storedPassword(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return String(database.prepare("SELECT user_pass AS hash FROM wp_users WHERE ID = 1").get()?.hash);
  } finally {
    database.close();
  }
}

/** Returns the problem as a sentence, as the checks of test subjects do. */
export async function checkPassword({ services }: World, environment: EnvironmentRef): Promise<string[]> {
  const layout = await services.runtime.layout(environment);
  if (layout === null) return ["the environment does not exist"];
  const release = dirname(layout.documentRoot);
  const spec = await readSpec(join(release, "spec.json"));
  const stored =
    spec?.wordpress?.adminPasswordDigest ??
    (spec ? "none" : storedPassword(join(release, "database/wordpress.sqlite")));
  return /^\$wp\$2y\$|^A{64}$/.test(stored) ? [] : [`the administrator's password is ${stored}`];
}
