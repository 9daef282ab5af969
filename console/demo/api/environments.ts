/** Environments: created, copied, pushed and deleted. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { newBackup } from "../world/backups.ts";
import { newEnvironment, slugOf } from "../world/demoSites.ts";
import { send } from "../world/events.ts";
import { found, Refusal } from "../world/failures.ts";
import { addressOf, environmentOf, placeOf, signedInPerson, siteOf } from "../world/find.ts";
import { problemOf, start } from "../world/operations.ts";
import type { DemoEnvironment, DemoSite, World } from "../world/world.ts";
import { filesOf } from "./files.ts";
import { environmentView } from "./views.ts";

interface Wanted {
  readonly kind: "addEnvironment" | "addPlainEnvironment" | "cloneEnvironment";
  readonly body: { readonly display_name: string; readonly is_premium: boolean };
  readonly wordpress?: null;
  readonly source?: DemoEnvironment;
}

function refuseName({ environments }: DemoSite, displayName: string): void {
  const details = { display_name: displayName };
  if (slugOf(displayName) === "live") {
    throw new Refusal("environment_name_reserved", "The name “live” is that of the live environment.", details);
  }
  const isTaken = environments.some((one) => one.displayName.toLowerCase() === displayName.toLowerCase());
  if (isTaken) {
    throw new Refusal("environment_name_taken", `The site has an environment with the name “${displayName}”.`, details);
  }
}

function create(world: World, siteId: string, { kind, body, wordpress, source }: Wanted): string {
  const site = siteOf(world, siteId);
  const { display_name: displayName, is_premium: isPremium } = body;
  refuseName(site, displayName);
  const name = slugOf(displayName);
  const made = newEnvironment({ site: site.name, name, displayName, isPremium, wordpress, source });
  return start(world, {
    kind,
    siteId,
    environmentId: made.id,
    text: `Add the environment “${displayName}” to “${site.displayName}”`,
    problem: problemOf(displayName),
    apply: () => {
      site.environments.push(made);
      send(world, "environment.created", { environment_id: made.id, site_id: siteId, name, display_name: displayName });
      return { address: addressOf(made) };
    },
  });
}

function remove(world: World, environmentId: string, withoutBackup: boolean): string {
  const { site, environment } = placeOf(world, environmentId);
  const { displayName } = environment;
  const { id: deletedBy } = signedInPerson(world);
  return start(world, {
    kind: "deleteEnvironment",
    siteId: site.id,
    environmentId,
    text: `Delete the environment “${displayName}” of “${site.displayName}”`,
    apply: () => {
      site.environments.splice(site.environments.indexOf(environment), 1);
      if (!withoutBackup) {
        const { id: backupId } = newBackup(world, environment, { type: "system-generated" });
        const deletedAt = world.clock.now();
        world.deletedEnvironments.unshift({ thing: environment, siteId: site.id, deletedAt, deletedBy, backupId });
      }
      send(world, "environment.deleted", { environment_id: environmentId, site_id: site.id });
      return null;
    },
  });
}

/** The changes that a push or a restore would make. */
export const comparison = (isWithDatabase: boolean) => ({
  files: {
    added: {
      count: 2,
      bytes: 214_000,
      listed: [
        { path: "wp-content/uploads/terrace.jpg", bytes: 181_000 },
        { path: "wp-content/uploads/terrace-small.jpg", bytes: 33_000 },
      ],
    },
    changed: { count: 1, bytes: 4_200, listed: [{ path: "wp-content/themes/harbour/style.css", bytes: 4_200 }] },
    removed: { count: 0, bytes: 0, listed: [] },
  },
  rows_lost: isWithDatabase ? [{ table: "wp_comments", rows: 3 }] : [],
});

type PushBody = Parameters<Calls<World>["pushEnvironment"]>[1]["body"];

function push(world: World, siteId: string, body: PushBody): string {
  const site = siteOf(world, siteId);
  const [source, target] = [body.source_env_id, body.target_env_id].map((id) => environmentOf(world, id));
  if (source === target) throw new Refusal("push_to_itself", "Choose two different environments.");
  if (body.push_db !== true && body.push_files !== true) {
    throw new Refusal("nothing_to_push", "Choose the database, the files, or both.", {
      fields: ["push_db", "push_files"],
    });
  }
  const [from, to] = [found(source), found(target)];
  const place = { siteId, environmentId: to.id };
  const text = `${from.displayName} of “${site.displayName}” to ${to.displayName}`;
  if (body.dry_run === true) {
    return start(world, {
      ...place,
      kind: "comparePush",
      text: `Compare ${text}`,
      apply: () => comparison(body.push_db === true),
    });
  }
  const apply = () => {
    newBackup(world, to, { type: "system-generated", note: `Before the push from ${from.displayName}` });
    if (body.push_files === true) to.packages = from.packages.map((one) => ({ ...one }));
    return null;
  };
  return start(world, { ...place, kind: "pushEnvironment", text: `Push ${text}`, apply });
}

export const environmentCalls = {
  listEnvironments: (world, { params }) => {
    const site = siteOf(world, params.site_id);
    return site.environments.map((environment) => environmentView(world, site, environment));
  },
  listFiles: (world, { params, query }) => {
    const { id, packages } = environmentOf(world, params.env_id);
    return { id, file_list: filesOf(packages, query.path ?? "/") };
  },
  createEnvironment: (world, { params, body }) => create(world, params.site_id, { kind: "addEnvironment", body }),
  createPlainEnvironment: (world, { params, body }) =>
    create(world, params.site_id, { kind: "addPlainEnvironment", body, wordpress: null }),
  cloneEnvironment: (world, { params, body }) =>
    create(world, params.site_id, {
      ...{ kind: "cloneEnvironment", body },
      source: environmentOf(world, body.source_env_id),
    }),
  deleteEnvironment: (world, { params, query, body }) =>
    remove(world, params.env_id, (query.without_backup ?? body.without_backup) === true),
  pushEnvironment: (world, { params, body }) => push(world, params.site_id, body),
} satisfies Partial<Calls<World>>;
