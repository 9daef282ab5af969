/** The demo company's history. */
import { type OperationKind, operationKinds } from "@sitewright/contract/operationKinds.ts";
import { idOf } from "./ids.ts";
import type { DemoOperation, DemoSite, Person, Recorded } from "./world.ts";

interface Done {
  readonly kind: OperationKind;
  /** Number of the site. */
  readonly site: number;
  readonly minutesAgo: number;
  readonly text: string;
  readonly problem?: string | null;
  readonly result?: unknown;
}

const done: readonly Done[] = [
  { kind: "clearCache", site: 2, minutesAgo: 14, text: "Clear the cache of Night Train Journal" },
  {
    kind: "updatePlugins",
    site: 5,
    minutesAgo: 50,
    text: "Update plugins of Paper Boats",
    problem: "The front page did not answer after the update. The old versions are back.",
  },
  {
    kind: "updatePlugins",
    site: 0,
    minutesAgo: 200,
    text: "Update plugins of Harbour Café",
    result: { updated: [{ name: "corner-shop", from: "9.1.0", to: "9.2.3" }] },
  },
  { kind: "addManualBackup", site: 3, minutesAgo: 410, text: "Back up Birch & Sons" },
  { kind: "pushEnvironment", site: 2, minutesAgo: 1_500, text: "Push Redesign of Night Train Journal to Live" },
  {
    kind: "modifyPhpVersion",
    site: 9,
    minutesAgo: 2_900,
    text: "Change the PHP version of Field Notes to 8.4",
    result: { php_version: "8.4" },
  },
];

function operationOf(
  { kind, site, minutesAgo, problem = null, result = null }: Done,
  sites: readonly DemoSite[],
  now: number,
): DemoOperation {
  const { id: siteId, environments: [live] = [] } = sites[site] ?? {};
  const createdAt = now - minutesAgo * 60_000;
  return {
    id: `${operationKinds[kind].prefix}${idOf(`${kind} ${minutesAgo}`)}`,
    kind,
    siteId: siteId ?? null,
    environmentId: live?.id ?? null,
    steps: ["run"],
    createdAt,
    state: problem === null ? "succeeded" : "failed",
    stepsDone: 1,
    finishedAt: createdAt + 7_000,
    message: problem,
    blockedBy: [],
    result,
  };
}

/** Newest first. The environments learn which update took pictures of them. */
export function pastOperations(sites: readonly DemoSite[], now: number): DemoOperation[] {
  const operations = done.map((one) => operationOf(one, sites, now));
  for (const { id, environmentId, kind, state } of operations) {
    const environments = sites.flatMap((site) => site.environments);
    const updated = environments.find((environment) => environment.id === environmentId);
    if (updated !== undefined && kind === "updatePlugins" && state === "succeeded") updated.pictured = id;
  }
  return operations;
}

/** Newest first. */
export function pastActivity(sites: readonly DemoSite[], people: readonly Person[], now: number): Recorded[] {
  const [, , developer] = people;
  return done.map(({ kind, site, minutesAgo, text, problem = null }, index) => ({
    category: operationKinds[kind].category,
    entry: {
      id: 100 - index,
      site_id: sites[site]?.id ?? null,
      created_at: now - minutesAgo * 60_000,
      is_done: true,
      has_failed: problem !== null,
      has_warning: false,
      type: kind,
      public_error: problem,
      ip_address: "198.51.100.20",
      initiated_by:
        developer === undefined
          ? null
          : {
              id: developer.id,
              role: developer.access.role,
              full_name: developer.fullName,
              first_name: developer.fullName.split(" ")[0] ?? "",
            },
      user_agent_info: { browser_name: "Firefox", browser_version: "140.0", os_name: "Linux" },
      api_key_info: null,
      descriptions: [text],
    },
  }));
}
