/** Pushes one environment of a site to another: which requests are valid, and how the push starts. */
import { randomUUID } from "node:crypto";
import type { Push } from "@sitewright/contract/sites/push.ts";
import type { PushInput, PushPart } from "@sitewright/server/operations/sites/pushEnvironment.ts";
import type { DatabaseTransaction } from "@sitewright/server/store/database.ts";
import { type EnvironmentFacts, environmentForOperation } from "@sitewright/server/store/sites/environmentStates.ts";
import type { Static } from "typebox";
import { isNonLive } from "../company/access.ts";
import type { Context } from "../context.ts";
import { NotAllowed, Refused } from "../failures.ts";
import { addressOf } from "./addresses.ts";
import { environmentInput } from "./environmentInput.ts";

type PushRequest = Static<typeof Push>;

interface Parts {
  readonly files: PushPart;
  readonly database: PushPart;
}

/** Starts the push, or the comparison if it is a dry run. Returns the operation's id. */
export function push(context: Context, siteId: string, request: PushRequest): Promise<string> {
  if (request.source_env_id.toLowerCase() === request.target_env_id.toLowerCase()) {
    throw new Refused("push_to_itself", "The source and the target of a push must be different environments.");
  }
  const parts = partsOf(request);
  return context.inTransaction(async (transaction) => {
    const source = await environmentOf(transaction, siteId, request.source_env_id, "source_env_id");
    const target = await environmentOf(transaction, siteId, request.target_env_id, "target_env_id");
    const changesLive = target.name === "live" && !request.dry_run;
    if (changesLive && isNonLive(context.caller)) throw new NotAllowed("live");
    const { operationId } = await context.acceptOperation(transaction, {
      kind: request.dry_run ? "comparePush" : "pushEnvironment",
      companyId: target.company_id,
      siteId: target.site_id,
      environmentId: target.id,
      locks: [source.id, target.id],
      input: inputOf(context, source, target, { ...parts, isRewritten: request.run_search_and_replace ?? true }),
      whenBusy: context.whenBusy,
      actor: context.actor,
      activityParameters: {
        sourceName: source.display_name,
        environmentName: target.display_name,
        siteName: target.site_display_name,
      },
    });
    return operationId;
  });
}

function inputOf(
  { settings }: Context,
  source: EnvironmentFacts,
  target: EnvironmentFacts,
  { isRewritten, ...parts }: Parts & { readonly isRewritten: boolean },
): PushInput {
  const address = addressOf(settings, target);
  return {
    ...parts,
    token: randomUUID(),
    source: environmentInput(source),
    target: environmentInput(target),
    address,
    addresses: isRewritten ? [{ from: addressOf(settings, source), to: address }] : [],
    sourceName: source.display_name,
  };
}

function partsOf(request: PushRequest): Parts {
  const files = request.push_files === false ? "none" : filesOf(request);
  const database = request.push_db === false ? "none" : (request.push_tables ?? "all");
  if (files !== "none" || database !== "none") return { files, database };
  throw new Refused("nothing_to_push", "Nothing would be pushed. Set push_db or push_files to true.", {
    fields: ["push_db", "push_files"],
  });
}

function filesOf({ push_files_option: option, file_list: list }: PushRequest): PushPart {
  if (option !== "SPECIFIC_FILES") return "all";
  if (!list || list.length === 0) {
    throw new Refused("file_list_missing", "SPECIFIC_FILES needs a file_list with at least one path.", {
      fields: ["file_list"],
    });
  }
  requireInside(list);
  return list;
}

/** Throws `Refused` unless all paths are relative to a site's root, and below it. */
export function requireInside(paths: readonly string[]): void {
  const outside = paths.find((path) => !isInside(path));
  if (outside === undefined) return;
  throw new Refused(
    "file_outside_root",
    `"${outside}" is not a path below the site's root. Send relative paths without "." and "..".`,
    { path: outside },
  );
}

function isInside(path: string): boolean {
  const segments = path.split(/[\\/]/);
  return (
    !path.includes("\0") &&
    !/^[\\/]|^[A-Za-z]:/.test(path) &&
    !segments.some((segment) => segment === ".." || segment === ".")
  );
}

async function environmentOf(transaction: DatabaseTransaction, siteId: string, id: string, field: string) {
  const environment = await environmentForOperation(transaction, id);
  if (environment?.site_id === siteId.toLowerCase()) return environment;
  throw new Refused("not_of_this_site", `${field} is not an environment of this site.`, { fields: [field] });
}
