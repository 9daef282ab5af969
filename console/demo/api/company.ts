/** The company: API keys, activity, regions, PHP versions, and the installation. */
import type { Calls, ResponseHandlers } from "@sitewright/contract/endpoints.ts";
import { record } from "../world/activity.ts";
import { phpVersions, usualPhp } from "../world/demoSites.ts";
import { found, Refusal } from "../world/failures.ts";
import { allPlaces, isoOf, pageOf, signedInPerson } from "../world/find.ts";
import { newId } from "../world/ids.ts";
import type { DemoKey, World } from "../world/world.ts";

const category = "userManagement" as const;
const hour = 3_600_000;

const keyOf = ({ keys }: World, wanted: string): DemoKey => found(keys.find(({ id }) => id === wanted));

function change(world: World, key: DemoKey, changes: Partial<DemoKey>): DemoKey {
  const changed = { ...key, ...changes };
  world.keys[world.keys.indexOf(key)] = changed;
  return changed;
}

const newToken = (): string => `sk_demo_${newId().replaceAll("-", "")}`;

export const companyCalls = {
  listApiKeys: ({ keys }) => keys.map(({ scopes: _, ...key }) => key),
  createApiKey: (world, { body: { name, expires_at = null, scopes = null, allowed_addresses = null } }) => {
    if (expires_at !== null && Date.parse(expires_at) < world.clock.now()) {
      throw new Refusal("expiry_in_the_past", "The key would have expired already. Choose a later day.");
    }
    const api_key: DemoKey = {
      ...{ id: newId(), name, expires_at, allowed_addresses: allowed_addresses && [...allowed_addresses] },
      scopes: scopes && [...scopes],
      status: "active",
      created_by: signedInPerson(world).id,
      replaced_by: null,
      last_used_at: null,
    };
    world.keys.push(api_key);
    record(world, { type: "createApiKey", category, text: `Create the API key “${name}”` });
    return { api_key, token: newToken() };
  },
  setAllowedAddresses: (world, { params, body: { allowed_addresses: addresses } }) => {
    const key = keyOf(world, params.key_id);
    record(world, { type: "changeApiKey", category, text: `Change the addresses of the API key “${key.name}”` });
    return change(world, key, { allowed_addresses: addresses && [...addresses] });
  },
  rotateApiKey: (world, { params, body: { overlap_hours: hours } }) => {
    const key = keyOf(world, params.key_id);
    if (key.replaced_by !== null) {
      throw new Refusal("key_already_rotated", "The key has been rotated already.", { replaced_by: key.replaced_by });
    }
    const successor: DemoKey = { ...key, id: newId(), last_used_at: null };
    world.keys.push(successor);
    const expires_at = isoOf(world.clock.now() + hours * hour);
    record(world, { type: "rotateApiKey", category, text: `Rotate the API key “${key.name}”` });
    const replaced_key = change(world, key, { expires_at, replaced_by: successor.id });
    return { api_key: successor, token: newToken(), replaced_key };
  },
  revokeApiKey: (world, { params, query }) => {
    const key = keyOf(world, params.key_id);
    const successor = world.keys.find(({ id }) => id === key.replaced_by);
    if (successor !== undefined && !query.keep_successor) change(world, successor, { status: "revoked" });
    record(world, { type: "revokeApiKey", category, text: `Revoke the API key “${key.name}”` });
    return change(world, key, { status: "revoked" });
  },
  listActivity: (world, { query }) => {
    const { category: wanted, site_id, id_initiated_by: person, before, limit = 10, offset } = query;
    const matches = world.activity
      .filter((one) => wanted === undefined || one.category === wanted)
      .map(({ entry }) => entry)
      .filter((entry) => site_id === undefined || entry.site_id === site_id)
      .filter((entry) => person === undefined || entry.initiated_by?.id === person);
    const older = before === undefined ? matches : matches.filter(({ id }) => id < before);
    return { items: pageOf(older, { limit: Math.min(limit, 100), offset }), total: matches.length };
  },
  listRegions: () => [{ name: "This machine", region: "this-machine" }],
  listPhpVersions: () =>
    phpVersions.map((version) => ({
      php_version: version,
      php_engine_version: `php${version}`,
      is_default: version === usualPhp,
      has_ended: false,
    })),
  getInstallation: (world) => {
    const running = world.operations.filter(({ state }) => state === "running").length;
    const ended = (state: string) => world.operations.filter((operation) => operation.state === state).length;
    const places = allPlaces(world);
    const process = { answers: true, running_seconds: 266_400 };
    return {
      versions: { sitewright: "demo", node: "none", database: "none", platform: "your browser" },
      processes: [
        { name: "control", memory_bytes: 214e6, ...process },
        { name: "edge", memory_bytes: 156e6, ...process },
        { name: "dns", memory_bytes: 71e6, ...process },
        { name: "database", memory_bytes: 188e6, ...process },
      ],
      workers: { maximum: 24, busy: 2, idle: 9, prepared: 2 },
      disk: {
        total_bytes: 480e9,
        free_bytes: 391e9,
        environments_bytes: places.reduce((sum, { environment: { diskBytes } }) => sum + diskBytes, 0),
        database_bytes: 96e6,
      },
      content: { companies: 1, sites: world.sites.length, environments: places.length },
      queue: { waiting: 0, running, longest_wait_seconds: 0, succeeded: ended("succeeded"), failed: ended("failed") },
      archives: {
        backups: places.reduce((sum, { environment: { backups } }) => sum + backups.length, 0),
        stored_bytes: 6.1e9,
        oldest_newest_seconds: 61_000,
        pending: 0,
        missing: 0,
        failing: 0,
        damaged: 0,
      },
      findings: [{ level: "note", text: "This is a demo in your browser. None of these numbers were measured." }],
      findings_at: isoOf(world.clock.now() - 60_000),
    };
  },
} satisfies Partial<Calls<World>>;

const columns = ["id", "created_at", "type", "site_id", "initiated_by", "description"] as const;

type Exported = Parameters<ResponseHandlers<World>["exportActivity"]>[1]["query"];

/** Oldest first. */
function* exported({ activity }: World, { format, category: wanted, from, to }: Exported) {
  if (format === "csv") yield `${columns.join(",")}\n`;
  const matches = activity
    .filter((one) => wanted === undefined || one.category === wanted)
    .map(({ entry }) => entry)
    .filter((entry) => from === undefined || entry.created_at >= Date.parse(from))
    .filter((entry) => to === undefined || entry.created_at < Date.parse(to));
  for (const entry of matches.toReversed()) {
    const { id, created_at, type, site_id, initiated_by, descriptions } = entry;
    const values = [
      id,
      isoOf(created_at),
      type,
      site_id ?? "",
      initiated_by?.full_name ?? "",
      descriptions?.join(" ") ?? "",
    ];
    const quoted = values.map((value) => (typeof value === "number" ? value : `"${value.replaceAll('"', '""')}"`));
    yield format === "csv" ? `${quoted.join(",")}\n` : `${JSON.stringify(entry)}\n`;
  }
}

export const companyHandlers = {
  exportActivity: async (world, { query }) => ({
    status: 200,
    body: [...exported(world, query)].join(""),
    headers: { "content-type": query.format === "csv" ? "text/csv" : "application/x-ndjson" },
  }),
} satisfies Partial<ResponseHandlers<World>>;
