/** Tools of an environment: PHP, caches, search and replace, WP-CLI, WordPress's users. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { phpVersions } from "../world/demoSites.ts";
import { Refusal } from "../world/failures.ts";
import { addressOf, environmentOf, placeOf } from "../world/find.ts";
import { start } from "../world/operations.ts";
import type { World } from "../world/world.ts";
import { printedBy } from "./wpCli.ts";

/** Where an operation belongs, and how people call it. */
export function targetOf(world: World, environmentId: string) {
  const { site, environment } = placeOf(world, environmentId);
  const name = `${site.displayName} (${environment.displayName})`;
  return { environment, name, target: { siteId: site.id, environmentId } };
}

const runtimes = [
  { runtime: "native", php_versions: [...phpVersions] },
  { runtime: "playground", php_versions: ["8.3", "8.4"] },
];

function requirePhp(version: string): void {
  if (phpVersions.some((known) => known === version)) return;
  throw new Refusal(
    "unknown_php_version",
    `There is no PHP ${version} here. Choose one of ${phpVersions.join(", ")}.`,
    {
      php_version: version,
      offered: [...phpVersions],
    },
  );
}

const nothing = () => null;

export const toolCalls = {
  modifyPhpVersion: (world, { body }) => {
    const { environment, name, target } = targetOf(world, body.environment_id);
    const version = body.php_version;
    requirePhp(version);
    const apply = () => {
      environment.php = version;
      environment.settings.staysOnPhp = body.is_opt_out_from_automatic_php_update ?? environment.settings.staysOnPhp;
      return { php_version: version };
    };
    return start(world, {
      ...target,
      kind: "modifyPhpVersion",
      text: `Change the PHP version of ${name} to ${version}`,
      apply,
    });
  },
  getRuntime: (world, { params }) => {
    const { id, runtime, php } = environmentOf(world, params.env_id);
    return { id, runtime, php_version: php, available_runtimes: runtimes };
  },
  changeRuntime: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const known = runtimes.find(({ runtime }) => runtime === body.runtime);
    if (known === undefined) {
      const offered = runtimes.map(({ runtime }) => runtime);
      throw new Refusal("unknown_runtime", `There is no runtime “${body.runtime}”.`, {
        runtime: body.runtime,
        offered,
      });
    }
    const apply = () => {
      environment.runtime = known.runtime;
      environment.php = body.php_version ?? environment.php;
      return { runtime: environment.runtime, php_version: environment.php };
    };
    return start(world, { ...target, kind: "changeRuntime", text: `Change the runtime of ${name}`, apply });
  },
  restartPhp: (world, { body }) => {
    const { name, target } = targetOf(world, body.environment_id);
    return start(world, { ...target, kind: "restartPhp", text: `Restart PHP of ${name}`, apply: nothing });
  },
  clearCache: (world, { body }) => {
    const { name, target } = targetOf(world, body.environment_id);
    return start(world, { ...target, kind: "clearCache", text: `Clear the cache of ${name}`, apply: nothing });
  },
  clearEdgeCache: (world, { body }) => {
    const { environment, name, target } = targetOf(world, body.environment_id);
    const { url } = body;
    const isOwn = url === undefined || url.startsWith("/") || url.startsWith(`${addressOf(environment)}/`);
    if (!isOwn)
      throw new Refusal("not_an_address_of_the_site", "Write a path such as /shop, or an address of this site.");
    return start(world, { ...target, kind: "clearEdgeCache", text: `Clear the page cache of ${name}`, apply: nothing });
  },
  getEdgeCacheStatus: (world, { query }) => {
    const { id, settings } = environmentOf(world, query.environment_id);
    return { id, edge_caching: { is_enabled: settings.isCached } };
  },
  updateEdgeCacheStatus: (world, { body }) => {
    const { environment, name, target } = targetOf(world, body.environment_id);
    const apply = () => {
      environment.settings.isCached = body.enabled;
      return null;
    };
    const text = `Turn the page cache of ${name} ${body.enabled ? "on" : "off"}`;
    return start(world, { ...target, kind: "updateEdgeCacheStatus", text, apply });
  },
  searchAndReplace: (world, { body }) => {
    const { name, target } = targetOf(world, body.environment_id);
    if (body.search === body.replace) {
      const fields = ["search", "replace"];
      throw new Refusal("nothing_to_replace", "Both texts are the same.", { fields });
    }
    const isPerformed = body.perform_replacement === true;
    const apply = () => replacements(isPerformed);
    const text = `${isPerformed ? "Replace" : "Look for"} “${body.search}” in ${name}`;
    return isPerformed
      ? start(world, { ...target, kind: "searchAndReplace", text, apply })
      : start(world, { ...target, kind: "previewSearchAndReplace", text, apply });
  },
  runWpCli: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const command = body.argv?.join(" ") ?? body.wp_command ?? "";
    const apply = () => printedBy(environment, command);
    return start(world, { ...target, kind: "runWpCli", text: `Run wp ${command} for ${name}`, apply });
  },
  createWpAdminUser: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    if (environment.administrators.includes(body.email)) {
      const message = "There is already an administrator with this e-mail address.";
      throw new Refusal("wordpress_user_exists", message, { is_administrator: true });
    }
    environment.administrators.push(body.email);
    record(world, { type: "createWpAdminUser", siteId: target.siteId, text: `Add an administrator to ${name}` });
    return true;
  },
  createWpLoginLink: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    if (!environment.administrators.includes(body.email)) {
      throw new Refusal("wordpress_user_missing", `No WordPress user of this site has the address ${body.email}.`);
    }
    record(world, { type: "createWpLoginLink", siteId: target.siteId, text: `Log in to WordPress of ${name}` });
    return new URL("nothing-here.html", globalThis.location?.href ?? "https://demo.example/").href;
  },
} satisfies Partial<Calls<World>>;

const replacements = (isPerformed: boolean) => ({
  performed: isPerformed,
  rows: 7,
  occurrences: 12,
  places: [
    { table: "wp_posts", column: "post_content", rows: 5, occurrences: 9 },
    { table: "wp_options", column: "option_value", rows: 2, occurrences: 3 },
  ],
  skipped: { occurrences: 0, listed: [] },
  addresses: [],
});
