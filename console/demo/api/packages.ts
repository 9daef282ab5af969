/** Plugins, themes and WordPress itself: what is installed, what is newer, and what is vulnerable. */
import type { Calls, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { newestWordPress } from "../world/demoSites.ts";
import { found, Refusal } from "../world/failures.ts";
import { allPlaces, environmentOf, isoOf, pageOf } from "../world/find.ts";
import { start } from "../world/operations.ts";
import { knownPackages, update } from "../world/packages.ts";
import type { DemoEnvironment, InstalledPackage, PackageType, World } from "../world/world.ts";
import { byPackage, type CompanyQuery, orderedPackages } from "./companyPackages.ts";
import { targetOf } from "./tools.ts";

export const checksOf = ({ clock }: World) => {
  const checked = { checked_at: isoOf(clock.now() - 1_800_000), problem: null };
  return { updates: checked, vulnerabilities: checked };
};

export const statusOf = ({ isActive }: InstalledPackage) => (isActive ? ("active" as const) : ("inactive" as const));
export const updateOf = ({ newest }: InstalledPackage) =>
  newest === undefined ? ("none" as const) : ("available" as const);

const packageView = (one: InstalledPackage) => ({
  ...{ name: one.name, title: one.title, description: one.description },
  status: statusOf(one),
  version: one.version,
  update: updateOf(one),
  update_version: one.newest ?? null,
  update_status: one.updateStatus,
  is_version_vulnerable: one.isVulnerable,
  is_update_version_vulnerable: false,
  auto_update_type: "disabled",
});

interface Filter {
  readonly status?: "active" | "inactive";
  readonly column?: "vulnerable" | "updatesAvailable";
}

const matches = (one: InstalledPackage, { status, column }: Filter): boolean =>
  (status === undefined || statusOf(one) === status) &&
  (column !== "vulnerable" || one.isVulnerable) &&
  (column !== "updatesAvailable" || one.newest !== undefined);

function installed(world: World, environmentId: string, type: PackageType, filter: Filter) {
  const { packages } = environmentOf(world, environmentId);
  const items = packages.filter((one) => one.type === type && matches(one, filter)).map(packageView);
  return { checks: checksOf(world), items, last_updated_at: isoOf(world.clock.now() - 600_000), problem: null };
}

/** The packages with these names. Refuses if one is not installed, or none has an update. */
function wanted({ packages }: DemoEnvironment, type: PackageType, names: readonly string[]): InstalledPackage[] {
  const chosen = packages.filter((one) => one.type === type && names.includes(one.name));
  const missing = names.filter((name) => !chosen.some((one) => one.name === name));
  if (missing.length > 0) {
    throw new Refusal("package_not_installed", `Not installed: ${missing.join(", ")}.`, { names: missing });
  }
  const outdated = chosen.filter(({ newest }) => newest !== undefined);
  if (outdated.length === 0) {
    throw new Refusal("nothing_to_update", "There is no update for any of them.", { names: [...names] });
  }
  return outdated;
}

/** The newest versions are installed when the operation ends. */
export function startUpdate(world: World, environmentId: string, type: PackageType, names: readonly string[]): string {
  const { environment, name, target } = targetOf(world, environmentId);
  const outdated = wanted(environment, type, names);
  for (const one of outdated) one.updateStatus = "updating";
  const kind = type === "plugin" ? ("updatePlugins" as const) : ("updateThemes" as const);
  const id = start(world, {
    ...target,
    kind,
    text: `Update ${outdated.map(({ title }) => title).join(", ")} of ${name}`,
    apply: () => ({ updated: outdated.map(update) }),
    ended: (operation) => {
      environment.pictured = operation.id;
    },
  });
  const isRefused = found(world.operations.find((operation) => operation.id === id)).state === "failed";
  if (isRefused) for (const one of outdated) one.updateStatus = "failed";
  return id;
}

const companyList = (world: World, type: PackageType, query: CompanyQuery) => {
  const all = orderedPackages(byPackage(allPlaces(world), type), query);
  return {
    all: pageOf(all, query),
    facts: { checks: checksOf(world), total: all.length, last_updated_at: isoOf(world.clock.now() - 600_000) },
  };
};

export const packageCalls = {
  listPlugins: (world, { params, query }) => installed(world, params.env_id, "plugin", query),
  listThemes: (world, { params, query }) => installed(world, params.env_id, "theme", query),
  updatePlugins: (world, { params, body }) =>
    startUpdate(
      world,
      params.env_id,
      "plugin",
      body.plugins.map(({ name }) => name),
    ),
  updateThemes: (world, { params, body }) =>
    startUpdate(
      world,
      params.env_id,
      "theme",
      body.themes.map(({ name }) => name),
    ),
  getWordPress: (world, { params }) => {
    const { id, wordpress } = environmentOf(world, params.env_id);
    const isOld = wordpress !== null && wordpress !== newestWordPress;
    return { id, wordpress_version: wordpress, update_versions: isOld ? [newestWordPress] : [], problem: null };
  },
  updateWordPress: (world, { params, body: { update_version: version } }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const from = environment.wordpress ?? "";
    const facts = { name: "wordpress", offered: [newestWordPress] };
    if (version !== newestWordPress) {
      throw new Refusal(
        "version_not_offered",
        `There is no WordPress ${version}. The newest is ${newestWordPress}.`,
        facts,
      );
    }
    if (from === newestWordPress) {
      const details = { name: "wordpress", installed: from };
      throw new Refusal("version_not_newer", `WordPress ${from} is installed already.`, details);
    }
    const apply = () => {
      environment.wordpress = version;
      return { from, to: version };
    };
    return start(world, {
      ...target,
      kind: "updateWordPress",
      text: `Update WordPress of ${name} to ${version}`,
      apply,
    });
  },
  listVulnerabilities: (world, { query }) => {
    const items = knownPackages.flatMap(({ type, name, newest, flaw }) => {
      const places = allPlaces(world).flatMap(({ site, environment }) =>
        environment.packages
          .filter((one) => one.name === name && one.isVulnerable)
          .map(({ version, newest: update_version = null }) => ({
            id: environment.id,
            site_id: site.id,
            site_display_name: site.displayName,
            display_name: environment.displayName,
            ...{ version, update_version },
          })),
      );
      if (flaw === undefined || places.length === 0) return [];
      const { title, cve, score } = flaw;
      const [affected, reference] = [`< ${newest}`, null];
      return [
        {
          id: cve,
          ...{ title, cve, score, reference, type, name, affected },
          patched_version: newest,
          environments: places,
        },
      ];
    });
    const sorted = items.toSorted((one, other) => other.score - one.score);
    const feed = {
      read_at: isoOf(world.clock.now() - 3_600_000),
      records: knownPackages.length,
      skipped: 0,
      problem: null,
    };
    return { checks: checksOf(world), items: pageOf(sorted, query), total: items.length, feed };
  },
} satisfies Partial<Calls<World>>;

export const packageHandlers = {
  listCompanyPlugins: async (world, { query }) => {
    const { all, facts } = companyList(world, "plugin", query);
    const items = all.map(({ places, ...known }) => ({
      ...known,
      environments: places.map(({ place, one }) => ({
        id: place.environment.id,
        site_id: place.site.id,
        site_display_name: place.site.displayName,
        display_name: place.environment.displayName,
        plugin_status: statusOf(one),
        plugin_update: updateOf(one),
        plugin_version: one.version,
        is_plugin_version_vulnerable: one.isVulnerable,
        plugin_update_version: one.newest ?? null,
        is_plugin_update_version_vulnerable: false,
        plugin_update_status: one.updateStatus,
        auto_update_type: "disabled",
      })),
    }));
    return { status: 200, body: { company: { plugins: { ...facts, items } } } };
  },
  listCompanyThemes: async (world, { query }) => {
    const { all, facts } = companyList(world, "theme", query);
    const items = all.map(({ places, ...known }) => ({
      ...known,
      environments: places.map(({ place, one }) => ({
        id: place.environment.id,
        site_id: place.site.id,
        site_display_name: place.site.displayName,
        display_name: place.environment.displayName,
        theme_status: statusOf(one),
        theme_update: updateOf(one),
        theme_version: one.version,
        is_theme_version_vulnerable: one.isVulnerable,
        theme_update_version: one.newest ?? null,
        is_theme_update_version_vulnerable: false,
        theme_update_status: one.updateStatus,
        auto_update_type: "disabled",
      })),
    }));
    return { status: 200, body: { company: { themes: { ...facts, items } } } };
  },
} satisfies Partial<ResponseHandlers<World>>;
