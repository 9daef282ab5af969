/** Settings and limits of environments, and what they and the company use. */
import type { Calls } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { Refusal } from "../world/failures.ts";
import { allPlaces, environmentOf, type Place, pageOf, placeOf, siteOf } from "../world/find.ts";
import { chanceOf } from "../world/ids.ts";
import { start } from "../world/operations.ts";
import type { EnvironmentSettings, ResultOf, World } from "../world/world.ts";
import { targetOf } from "./tools.ts";

const gigabyte = 2 ** 30;
const hour = 3_600_000;

const bounds = {
  thread_count: { minimum: 1, maximum: 8 },
  thread_memory: { minimum: 64, maximum: 1024 },
  request_seconds: { minimum: 1, maximum: 300 },
  disk_bytes: { minimum: 100_000_000, maximum: 50 * gigabyte },
};

const limitsOf = ({ threadCount, threadMemory, requestSeconds, diskBytes }: EnvironmentSettings) => ({
  thread_count: threadCount,
  thread_memory: threadMemory,
  request_seconds: requestSeconds,
  disk_bytes: diskBytes,
});

function requireWithin(field: keyof typeof bounds, value: number | null | undefined): void {
  const { minimum, maximum } = bounds[field];
  if (value === null || value === undefined || (value >= minimum && value <= maximum)) return;
  const message = `\`${field}\` must be from ${minimum} to ${maximum}.`;
  throw new Refusal("limit_out_of_bounds", message, { field, minimum, maximum });
}

interface Allocation {
  readonly thread_count: number;
  readonly thread_memory: number;
}

function allocate(settings: readonly EnvironmentSettings[], { thread_count, thread_memory }: Allocation) {
  requireWithin("thread_count", thread_count);
  requireWithin("thread_memory", thread_memory);
  return () => {
    for (const one of settings) Object.assign(one, { threadCount: thread_count, threadMemory: thread_memory });
    return null;
  };
}

function note(world: World, { site, environment }: Place, type: string, what: string): void {
  record(world, { type, siteId: site.id, text: `Change ${what} of ${site.displayName} (${environment.displayName})` });
}

type Usage = ResultOf<"getUsage">["items"][number];

function usageOf(world: World, { site, environment }: Place): Usage {
  const { id, displayName, settings, visitsPerHour, diskBytes } = environment;
  const requests = Math.round(visitsPerHour * 24 * 3.1);
  const isBusy = visitsPerHour > 800;
  return {
    environment_id: id,
    display_name: displayName,
    site_id: site.id,
    site_display_name: site.displayName,
    cpu_seconds: Math.round(requests * 0.06),
    php_requests: requests,
    php_seconds: Math.round(requests * 0.11),
    killed_for_time: isBusy ? 2 : 0,
    killed_for_memory: 0,
    refused_busy: isBusy ? 14 : 0,
    bytes_sent: requests * 84_000,
    disk_bytes: diskBytes,
    disk_measured_at: world.clock.now() - 0.2 * hour,
    is_over_disk_quota: false,
    limits: limitsOf(settings),
    is_noisy: isBusy,
    noise: isBusy ? ["cpu"] : [],
  };
}

const sortKeys = {
  cpu: ({ cpu_seconds }) => cpu_seconds,
  requests: ({ php_requests }) => php_requests,
  bytes: ({ bytes_sent }) => bytes_sent,
  disk: ({ disk_bytes }) => disk_bytes ?? 0,
  killed: ({ killed_for_time, killed_for_memory }) => killed_for_time + killed_for_memory,
} satisfies Record<string, (usage: Usage) => number>;

export const settingCalls = {
  getLimits: (world, { params }) => {
    const { id, settings, diskBytes } = environmentOf(world, params.env_id);
    const measured = world.clock.now() - 0.2 * hour;
    const use = { disk_bytes: diskBytes, disk_measured_at: measured, is_over_disk_quota: false };
    return { id, limits: limitsOf(settings), bounds, use };
  },
  changeLimits: (world, { params, body: { request_seconds: seconds, disk_bytes: bytes } }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    requireWithin("request_seconds", seconds);
    requireWithin("disk_bytes", bytes);
    const apply = () => {
      if (seconds !== undefined) environment.settings.requestSeconds = seconds ?? 60;
      if (bytes !== undefined) environment.settings.diskBytes = bytes;
      return null;
    };
    return start(world, { ...target, kind: "changeEnvironmentLimits", text: `Change the limits of ${name}`, apply });
  },
  changeEnvironmentPhpAllocation: (world, { params, body }) => {
    const { environment, name, target } = targetOf(world, params.env_id);
    const apply = allocate([environment.settings], body);
    const text = `Change the PHP threads of ${name}`;
    return start(world, { ...target, kind: "changeEnvironmentPhpAllocation", text, apply });
  },
  changeSitePhpAllocation: (world, { params, body }) => {
    const { id: siteId, displayName, environments } = siteOf(world, params.site_id);
    const apply = allocate(
      environments.map(({ settings }) => settings),
      body,
    );
    const text = `Change the PHP threads of ${displayName}`;
    return start(world, { kind: "changeSitePhpAllocation", siteId, text, apply });
  },
  getCompanyLimits: (world) => {
    const places = allPlaces(world);
    return {
      id: world.company.id,
      limits: {
        sites: 50,
        environments: 100,
        domains: null,
        disk_bytes: 200 * gigabyte,
        thread_count: null,
        thread_memory: null,
        api_keys: 20,
        mail_recipients_per_hour: 1_000,
      },
      use: {
        sites: world.sites.length,
        environments: places.length,
        domains: places.reduce((sum, { environment: { domains } }) => sum + domains.length, 0),
        disk_bytes: places.reduce((sum, { environment: { diskBytes } }) => sum + diskBytes, 0),
        api_keys: world.keys.filter(({ status }) => status === "active").length,
      },
    };
  },
  getUsage: (world, { query: { from, to, sort = "cpu", limit = 100, offset } }) => {
    const now = world.clock.now();
    const all = allPlaces(world).map((place) => usageOf(world, place));
    const key = sortKeys[sort];
    const sorted = all.toSorted((one, other) => key(other) - key(one));
    return {
      from: from ?? now - 24 * hour,
      to: to ?? now,
      items: pageOf(sorted, { limit, offset }),
      total: all.length,
    };
  },
  listDeniedIps: (world, { query }) => {
    const { id, settings } = environmentOf(world, query.environment_id);
    return { id, ip_list: [...settings.deniedIps] };
  },
  replaceDeniedIps: (world, { body }) => {
    const place = placeOf(world, body.environment_id);
    const errors = body.ip_list.flatMap((ip, index) =>
      /^[\da-f.:/]+$/i.test(ip)
        ? []
        : [{ path: `/ip_list/${index}`, message: "must be an IP address such as 203.0.113.7 or 2001:db8::1" }],
    );
    if (errors.length > 0) throw new Refusal("not_an_address", "Some entries are not IP addresses.", { errors });
    place.environment.settings.deniedIps = body.ip_list;
    note(world, place, "replaceDeniedIps", "the blocked addresses");
    return null;
  },
  getXmlRpc: (world, { query }) => {
    const { id, settings } = environmentOf(world, query.environment_id);
    return { id, is_enabled: settings.isXmlRpcEnabled };
  },
  updateXmlRpc: (world, { body }) => {
    const place = placeOf(world, body.environment_id);
    place.environment.settings.isXmlRpcEnabled = body.is_enabled;
    note(world, place, "updateXmlRpc", "XML-RPC");
    return null;
  },
  getUpdateChecks: (world, { params }) => {
    const { id, settings } = environmentOf(world, params.env_id);
    return { id, update_checks: [...settings.updateChecks], picture_threshold: settings.pictureThreshold };
  },
  replaceUpdateChecks: (world, { params, body: { update_checks, picture_threshold } }) => {
    const place = placeOf(world, params.env_id);
    const { id, settings } = place.environment;
    settings.updateChecks = update_checks;
    if (picture_threshold !== undefined) settings.pictureThreshold = picture_threshold;
    note(world, place, "replaceUpdateChecks", "the checks of updates");
    return { id, update_checks, picture_threshold: settings.pictureThreshold };
  },
  getAutomaticUpdates: (world, { params }) => {
    const { id, settings } = environmentOf(world, params.env_id);
    return { id, automatic_updates: settings.automaticUpdates };
  },
  replaceAutomaticUpdates: (world, { params, body }) => {
    const place = placeOf(world, params.env_id);
    place.environment.settings.automaticUpdates = body;
    note(world, place, "replaceAutomaticUpdates", "automatic updates");
    return { id: params.env_id, automatic_updates: body };
  },
  listCronEvents: (world, { params, query }) => {
    const { id, wordpress } = environmentOf(world, params.env_id);
    const now = world.clock.now();
    const events = [
      { hook: "wp_version_check", recurrence: "twicedaily", interval_seconds: 43_200 },
      { hook: "wp_scheduled_delete", recurrence: "daily", interval_seconds: 86_400 },
      { hook: "tidy_forms_cleanup", recurrence: "hourly", interval_seconds: 3_600 },
    ].map((event) => ({
      ...event,
      site: null,
      args: "[]",
      next_run_at: now + Math.round(chanceOf(id + event.hook) * hour),
    }));
    const items = wordpress === null ? [] : events;
    const last = { began_at: now - 60_000, ended_at: now - 58_800, error: null };
    return { id, cron_events: pageOf(items, query), total: items.length, last_run: last, problem: null };
  },
} satisfies Partial<Calls<World>>;
