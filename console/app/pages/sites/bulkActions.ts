/** What can be done with many sites at once: for each action, the requests that it takes. */
import type { BulkHeaders, BulkTask, Send, Started } from "../../api/bulk.ts";
import { answerOf, api } from "../../api/client.ts";
import type { LiveOverview, SiteOverview } from "../../api/siteOverviews.ts";
import { texts } from "../../texts.ts";

export const bulkNames = [
  "clearCache",
  "restartPhp",
  "updatePlugins",
  "updateThemes",
  "updateWordPress",
  "backUp",
  "changePhp",
  "automaticUpdates",
  "addLabel",
  "removeLabel",
  "deleteSites",
] as const;
export type BulkName = (typeof bulkNames)[number];

/** What a person chooses for an action. Other actions ignore it. */
export interface BulkChoice {
  readonly company: string;
  readonly phpVersion: string | null;
  readonly label: string | null;
  readonly plugins: boolean;
  readonly themes: boolean;
}

/** Sites that get or lose a label in one request. */
const labelledAtOnce = 500;

export function tasksOf(name: BulkName, sites: readonly SiteOverview[], choice: BulkChoice): readonly BulkTask[] {
  if (name === "addLabel" || name === "removeLabel") return labelTasks(name, sites, choice);
  return sites.map((site) => ({
    name: site.display_name,
    sites: 1,
    prepare: name === "deleteSites" ? async () => deleteSite(site) : () => prepareLive(name, site, choice),
  }));
}

type LiveName = Exclude<BulkName, "addLabel" | "removeLabel" | "deleteSites">;

async function prepareLive(name: LiveName, { live }: SiteOverview, choice: BulkChoice): Promise<Send | null> {
  if (live === null) throw new Error(texts.bulk.noLive);
  return liveActions[name](live, choice);
}

const liveActions: Record<LiveName, (live: LiveOverview, choice: BulkChoice) => Promise<Send | null> | Send> = {
  clearCache:
    ({ id }) =>
    (headers) =>
      answerOf(api.POST("/sites/tools/clear-cache", { body: { environment_id: id }, headers })),
  restartPhp:
    ({ id }) =>
    (headers) =>
      answerOf(api.POST("/sites/tools/restart-php", { body: { environment_id: id }, headers })),
  backUp: ({ id }) => {
    const params = { path: { env_id: id } };
    return (headers) =>
      answerOf(api.POST("/sites/environments/{env_id}/manual-backups", { params, body: {}, headers }));
  },
  changePhp: ({ id, php_version: present }, { phpVersion }) => {
    if (phpVersion === null || phpVersion === present) return Promise.resolve(null);
    const body = { environment_id: id, php_version: phpVersion };
    return (headers) => answerOf(api.PUT("/sites/tools/modify-php-version", { body, headers }));
  },
  updatePlugins: async ({ id }) => {
    const params = { path: { env_id: id } };
    const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/wp-plugins", { params }));
    const plugins = withUpdate(environment.plugins);
    if (plugins.length === 0) return null;
    return (headers) =>
      answerOf(api.PUT("/sites/environments/{env_id}/plugins/bulk-update", { params, body: { plugins }, headers }));
  },
  updateThemes: async ({ id }) => {
    const params = { path: { env_id: id } };
    const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/wp-themes", { params }));
    const themes = withUpdate(environment.themes);
    if (themes.length === 0) return null;
    return (headers) =>
      answerOf(api.PUT("/sites/environments/{env_id}/themes/bulk-update", { params, body: { themes }, headers }));
  },
  updateWordPress: async ({ id }) => {
    const params = { path: { env_id: id } };
    const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/wordpress", { params }));
    if (environment.problem !== null) throw new Error(environment.problem);
    const [newest] = environment.update_versions;
    if (newest === undefined) return null;
    const body = { update_version: newest };
    return (headers) => answerOf(api.PUT("/sites/environments/{env_id}/wordpress", { params, body, headers }));
  },
  automaticUpdates: async ({ id }, { plugins, themes }) => {
    const params = { path: { env_id: id } };
    const { environment } = await answerOf(api.GET("/sites/environments/{env_id}/automatic-updates", { params }));
    const body = { ...environment.automatic_updates, plugins, themes };
    return async (headers) => {
      await answerOf(api.PUT("/sites/environments/{env_id}/automatic-updates", { params, body, headers }));
      return null;
    };
  },
};

interface Updatable {
  readonly name: string;
  readonly update_version: string | null;
}

interface Packages {
  readonly items: readonly Updatable[];
  /** Why the list may be out of date, or null. */
  readonly problem: string | null;
  readonly checks: { readonly updates: { readonly checked_at: string | null; readonly problem: string | null } };
}

/** Throws if there are none because nobody knows. */
function withUpdate({ items, problem, checks: { updates } }: Packages): { name: string }[] {
  const found = items.filter(({ update_version: newer }) => newer !== null).map(({ name }) => ({ name }));
  const isUnknown = problem !== null || updates.problem !== null || updates.checked_at === null;
  if (found.length === 0 && isUnknown) throw new Error(problem ?? updates.problem ?? texts.bulk.updatesUnknown);
  return found;
}

function deleteSite({ id }: SiteOverview): Send {
  const params = { path: { site_id: id } };
  return (headers) => answerOf(api.DELETE("/sites/{site_id}", { params, body: {}, headers }));
}

function labelTasks(
  name: "addLabel" | "removeLabel",
  sites: readonly SiteOverview[],
  { company, label }: BulkChoice,
): readonly BulkTask[] {
  const field = name === "addLabel" ? "add" : "remove";
  return groupsOf(sites).map((group) => ({
    name: group.length === 1 ? (group[0]?.display_name ?? "") : texts.bulk.manySites(group.length),
    sites: group.length,
    prepare: async () => (headers: BulkHeaders) =>
      assign(company, label ?? "", { [field]: group.map(({ id }) => id) }, headers),
  }));
}

async function assign(
  company: string,
  label: string,
  body: { readonly [field: string]: string[] },
  headers: BulkHeaders,
): Promise<Started> {
  const params = { path: { id: company, label_id: label } };
  await answerOf(api.PUT("/company/{id}/labels/{label_id}/sites", { params, body, headers }));
  return null;
}

function groupsOf(sites: readonly SiteOverview[]): readonly (readonly SiteOverview[])[] {
  const count = Math.ceil(sites.length / labelledAtOnce);
  return Array.from({ length: count }, (_, at) => sites.slice(at * labelledAtOnce, (at + 1) * labelledAtOnce));
}
